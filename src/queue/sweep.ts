/**
 * The sweep: wakes every partition that holds pushes. A partition whose turn waits or runs absorbs it; one
 * whose turn was lost (a crash between append and wake, a failed turn, an emptied Redis) moves on.
 */
import type { Logger } from '../logger';
import type { Metrics } from '../metrics/metrics';
import { type Repeated, repeat } from '../repeat';
import type { Partitions } from './partitions';
import type { Turns } from './turns';

/** Milliseconds between sweeps of one worker. */
export const SWEEP_INTERVAL = 500;

export function startSweep(
  partitions: Partitions,
  turns: Turns,
  logger: Logger,
  metrics: Metrics,
): Repeated {
  return repeat(
    async () => {
      const waiting = await partitions.waiting();
      metrics.swept(waiting.length);
      await turns.wake(waiting);
    },
    SWEEP_INTERVAL,
    (error) => logger.debug({ error: String(error) }, 'sweep failed, the next one will do it'),
  );
}
