/** Refusals of known clients go into the push log too, at a bounded rate (decisions, "push log"). */
import type { Clock } from '../clock';
import type { Logger } from '../logger';
import type { LogEntry } from '../push-log/entry-model';
import type { PushLog } from '../push-log/log';

/** Entries per second and ingress, for all clients together and for one of them. */
const PER_SECOND = 100;
const PER_CLIENT = 10;

/**
 * Every ten seconds one refusal brings its body, unless it is larger: whoever knows a client id can
 * make refusals, and must not fill the disk with them.
 */
const MAX_BODY = 16 * 1024;
const BODY_INTERVAL = 10_000;

/** Records a refusal in the background; never fails. The entry is made only if it is recorded. */
export type LogRefusal = (clientId: string, entry: () => LogEntry, body?: Uint8Array) => void;

/** @returns a recorder that drops what is over the rate */
export function createRefusalLog(pushLog: PushLog, clock: Clock, logger: Logger): LogRefusal {
  let second = 0;
  let recorded = new Map<string, number>();
  let total = 0;
  let bodyAt = Number.NEGATIVE_INFINITY;
  return (clientId, makeEntry, body) => {
    const now = Math.floor(clock() / 1000);
    if (now !== second) {
      second = now;
      recorded = new Map();
      total = 0;
    }
    const ofClient = recorded.get(clientId) ?? 0;
    if (total >= PER_SECOND || ofClient >= PER_CLIENT) return;
    total += 1;
    recorded.set(clientId, ofClient + 1);
    const isDue = clock() - bodyAt >= BODY_INTERVAL;
    const kept = isDue && body && body.length <= MAX_BODY ? body : undefined;
    if (kept) bodyAt = clock();
    pushLog.append(makeEntry(), kept).catch((error) => {
      logger.warn({ clientId, error: String(error) }, 'refusal not recorded');
    });
  };
}
