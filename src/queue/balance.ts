/**
 * Sharing and sweeping assign partitions to workers. A worker owns a partition while pushes arrive in the partition.
 * Sharing divides the owned partitions evenly between the live workers. Each worker computes its own share from the
 * last heartbeats of all workers; there is no leader. The sweep finds partitions that no worker processes.
 */
import { type PollLoop, startPollLoop } from '../concurrency/timing';
import type { Logger } from '../infra/logger';
import type { Metrics } from '../observability/metrics';
import type { Partitions } from './commands/partitions';

/**
 * Milliseconds between two heartbeats of a worker, randomly extended by up to half. After each heartbeat the worker
 * adjusts its share.
 */
export const SHARE_EVERY = 500;

/** The worker whose share is adjusted. */
interface BalancedWorker {
  load(): { readonly partitions: number };
  isPaused(): boolean;
  adjustShare(release: number, max?: number): void;
}

/** Adjusts the share of a worker at each of its heartbeats. @param id of the worker */
export function createSharing(worker: BalancedWorker, id: string) {
  const shareNow = createDampedShare(id);
  let alive: ReadonlyMap<string, number> = new Map();
  let hasLeft = false;
  return {
    interval: SHARE_EVERY,
    /**
     * Number of partitions that the worker owns. Undefined while the worker is paused or stopping, because the worker
     * then takes no partitions.
     */
    ownedPartitions: () => (hasLeft || worker.isPaused() ? undefined : worker.load().partitions),
    /** @param workers number of owned partitions by worker id, only for live workers that take partitions */
    onWorkers: (workers: ReadonlyMap<string, number>): void => {
      alive = workers;
      if (!alive.has(id)) return;
      const { release, max } = shareNow(alive);
      worker.adjustShare(release, max);
    },
    /**
     * Ids of the live workers that were neither paused nor stopping at their last heartbeat. Empty before the first
     * heartbeat of this worker.
     */
    alive: (): Iterable<string> => alive.keys(),
    /** Ends the participation of this worker. The other workers then divide the partitions among themselves. */
    leave: (): void => {
      hasLeft = true;
    },
  };
}

export interface Share {
  /** Partitions to release now. */
  readonly release: number;
  /**
   * Maximum partitions of the worker until its next heartbeat. Undefined: no limit, because every worker has enough
   * partitions.
   */
  readonly max: number | undefined;
}

const NO_CHANGE: Share = { release: 0, max: undefined };
/**
 * Workers release partitions only if the worker with the fewest partitions is too far below the average. The difference
 * must be at least TOLERANCE partitions, and at least the fraction TOLERATED_PART of the average. The average and this
 * fraction are rounded down to whole partitions.
 */
const TOLERANCE = 1;
const TOLERATED_PART = 0.1;

/**
 * Computes the share of one worker.
 *
 * @param id of this worker
 * @param owned number of owned partitions by worker id, only for live workers that take partitions
 * @returns no releases and no limit if `owned` does not contain this worker
 */
export function shareOf(id: string, owned: ReadonlyMap<string, number>): Share {
  const ranks = [...owned].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const total = ranks.reduce((sum, [, partitions]) => sum + partitions, 0);
  const floor = Math.floor(total / ranks.length);
  const fewest = ranks.at(-1)?.[1] ?? 0;
  const tolerated = Math.max(TOLERANCE, Math.floor(floor * TOLERATED_PART));
  const rank = ranks.findIndex(([name]) => name === id);
  if (rank === -1 || floor - fewest < tolerated) return NO_CHANGE;
  // The workers with the most partitions keep the remainder of the division.
  const share = floor + (rank < total % ranks.length ? 1 : 0);
  const release = Math.max(0, (owned.get(id) ?? 0) - share);
  // Workers that already have their share must not take released partitions.
  return { release, max: (owned.get(id) ?? 0) < share ? share + 1 : share };
}

/**
 * Applies `shareOf` at each heartbeat of one worker. The numbers in `owned` are up to one heartbeat old, and a released
 * partition has no owner for a moment. Therefore the worker releases no partition at the first heartbeat with an uneven
 * distribution, and none at the heartbeat after a release. Otherwise the worker would release about twice as many
 * partitions as necessary.
 *
 * @param id of this worker
 * @returns a function to call once for each heartbeat
 */
export function createDampedShare(id: string): (owned: ReadonlyMap<string, number>) => Share {
  let mayRelease = false;
  return (owned) => {
    const { release, max } = shareOf(id, owned);
    const releaseNow = mayRelease ? release : 0;
    mayRelease = max !== undefined && releaseNow === 0;
    return { release: releaseNow, max };
  };
}

/** Milliseconds between two sweeps of one worker, randomly extended by up to half. */
export const SWEEP_INTERVAL = 500;

export interface SweepOptions {
  readonly partitions: Pick<Partitions, 'findDue'>;
  /** Receives the due partitions: the partitions that the sweep has found. */
  readonly worker: { notify(partitions: readonly number[]): void };
  /** Number of shards of the queue. */
  readonly shards: number;
  /** The id of this worker, as in `createSharing`. Redis stores this id with the partitions that the worker owns. */
  readonly id: string;
  /** @returns ids of the live workers that take partitions; empty while the ids are unknown */
  readonly alive: () => Iterable<string>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * The sweep finds partitions whose pushes no worker processes, and partitions of dead workers. If this worker holds the
 * job of a found partition, the sweep starts a batch. Otherwise the sweep schedules the job of the partition.
 *
 * A partition can need the sweep after a lost wake-up message, after a failed job, or after a crash between appending a
 * push and scheduling the job. In a failover, Redis can also lose the job or the owner of a partition, but keep the
 * pushes.
 *
 * Each shard has its own loop, so that an unavailable Cluster node delays only the sweeps of the shards on this node.
 */
export function startSweep(options: SweepOptions): PollLoop {
  const { partitions, worker, shards, id, alive, logger, metrics } = options;
  const loops = Array.from({ length: shards }, (_, shard) =>
    startPollLoop(
      async () => {
        const due = await partitions.findDue(shard, id, alive());
        metrics.swept(due.length);
        worker.notify(due);
      },
      SWEEP_INTERVAL,
      (error) => logger.debug({ shard, error: String(error) }, 'sweep failed, retrying'),
    ),
  );
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
