/**
 * The sweep: finds the partitions that hold pushes and that nobody works on (a crash between append and
 * schedule, a ring that was lost, a failed job, an emptied Redis), and has them move on; and those that
 * were left to a worker that has gone.
 */
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import type { Logger } from '../runtime/logger';
import type { Metrics } from '../telemetry/metrics';
import type { GroupWorker } from './group-worker';
import type { Partitions } from './partitions';

/** Milliseconds between sweeps of one worker. */
export const SWEEP_INTERVAL = 500;

export interface SweepOptions {
  readonly partitions: Pick<Partitions, 'findDue'>;
  readonly worker: Pick<GroupWorker, 'ring'>;
  /** Of the queue. */
  readonly shards: number;
  /** Of the owner. */
  readonly id: string;
  /** @returns ids of the workers that live, none as long as that is not known */
  readonly alive: () => Iterable<string>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Sweeps each shard by itself: the node of a Cluster that has another one may be away. */
export function startSweep(options: SweepOptions): PollLoop {
  const loops = Array.from({ length: options.shards }, (_, shard) => sweepShard(shard, options));
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

function sweepShard(
  shard: number,
  { partitions, worker, id, alive, logger, metrics }: SweepOptions,
): PollLoop {
  return startPollLoop(
    async () => {
      const due = await partitions.findDue(shard, id, alive());
      metrics.swept(due.length);
      worker.ring(due);
    },
    SWEEP_INTERVAL,
    (error) =>
      logger.debug({ shard, error: String(error) }, 'sweep failed, the next one will do it'),
  );
}
