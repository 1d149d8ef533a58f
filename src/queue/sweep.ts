/**
 * The sweep: wakes every lane that holds pushes. A lane whose turn waits or runs absorbs it; one
 * whose turn was lost (a crash between append and wake, a failed turn, an emptied Redis) moves on.
 */
import type { Logger } from '../logger';
import type { Metrics } from '../metrics/metrics';
import { type Repeated, repeat } from '../repeat';
import type { Lanes } from './lanes';
import type { Turns } from './turns';

/** Milliseconds between sweeps of one worker. */
export const SWEEP_INTERVAL = 500;

export function startSweep(lanes: Lanes, turns: Turns, logger: Logger, metrics: Metrics): Repeated {
  return repeat(
    async () => {
      const waiting = await lanes.waiting();
      metrics.swept(waiting.length);
      await turns.wake(waiting);
    },
    SWEEP_INTERVAL,
    (error) => logger.debug({ error: String(error) }, 'sweep failed, the next one will do it'),
  );
}
