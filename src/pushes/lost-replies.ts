/**
 * Replies can be lost (a Redis restart, a worker that died after its commit). Pushes that have
 * waited a while are looked up in the push log, which knows.
 */

import type { ReplyInbox } from '../queue/replies';
import type { Logger } from '../runtime/logger';
import type { LogLookups } from '../storage/push-log/lookups';
import type { Settlement } from '../storage/push-log/settlement';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';

const EVERY = 500;
/** A push that waits longer is looked up. */
const SUSPICIOUS_AGE = 1_000;
const MAX_LOOKUPS = 1_000;

/** @returns a function that stops it */
export function watchLostReplies(
  inbox: ReplyInbox<Settlement>,
  lookups: LogLookups,
  logger: Logger,
  metrics: Metrics = NO_METRICS,
): () => void {
  let running = false;
  const look = async () => {
    if (running) return;
    const overdue = inbox.overdue(SUSPICIOUS_AGE);
    if (overdue.length === 0) return;
    running = true;
    // Some at random where there are too many: those at the front may all be waiting rightly.
    const from = Math.floor(Math.random() * Math.max(0, overdue.length - MAX_LOOKUPS + 1));
    const ids = overdue.slice(from, from + MAX_LOOKUPS);
    try {
      for (const [id, settlement] of await lookups.settlements(ids)) {
        if (!settlement) continue;
        const waiting = inbox.size;
        inbox.deliver(id, settlement);
        // Where nobody waits any more the reply has come meanwhile.
        if (inbox.size < waiting) metrics.replyLost();
      }
    } catch (error) {
      logger.debug({ error: String(error) }, 'lookup of overdue pushes failed, tried again soon');
    } finally {
      running = false;
    }
  };
  const timer = setInterval(() => void look(), EVERY);
  return () => clearInterval(timer);
}
