/**
 * The sweep: schedules a job for every partition that holds pushes. Where one waits or runs, the new
 * one is absorbed; where it was lost (a crash between append and schedule, a failed job, an emptied
 * Redis), the partition moves on.
 */
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import type { Logger } from '../runtime/logger';
import type { Metrics } from '../telemetry/metrics';
import type { PartitionJobs } from './partition-jobs';
import type { Partitions } from './partitions';

/** Milliseconds between sweeps of one worker. */
export const SWEEP_INTERVAL = 500;

export function startSweep(
  partitions: Partitions,
  jobs: PartitionJobs,
  logger: Logger,
  metrics: Metrics,
): PollLoop {
  return startPollLoop(
    async () => {
      const waiting = await partitions.waiting();
      metrics.swept(waiting.length);
      await jobs.schedule(waiting);
    },
    SWEEP_INTERVAL,
    (error) => logger.debug({ error: String(error) }, 'sweep failed, the next one will do it'),
  );
}
