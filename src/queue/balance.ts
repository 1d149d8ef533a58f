/** Divides the partitions evenly between the live workers, and finds partitions that need a worker. */
import { type PollLoop, startPollLoop } from '../concurrency/timing';
import type { Logger } from '../infra/logger';
import type { Metrics } from '../observability/metrics';
import type { Partitions } from './commands/partitions';

/**
 * Minimum milliseconds between two regular heartbeats of a worker. A worker that stops, pauses or resumes sends an
 * additional heartbeat.
 */
export const SHARE_EVERY = 500;

interface BalancedWorker {
  load(): { readonly partitions: number };
  isPaused(): boolean;
  adjustShare(release: number, max?: number): void;
}

/** There is no leader: each worker computes its own share from the last heartbeats of all workers. */
export function createSharing(worker: BalancedWorker, id: string) {
  const shareNow = createDampedShare(id);
  let alive: ReadonlyMap<string, number> = new Map();
  let hasLeft = false;
  return {
    interval: SHARE_EVERY,
    /** Undefined while the worker is paused or stopping. */
    ownedPartitions: () => (hasLeft || worker.isPaused() ? undefined : worker.load().partitions),
    onWorkers: (workers: ReadonlyMap<string, number>): void => {
      alive = workers;
      if (!alive.has(id)) return;
      const { release, max } = shareNow(alive);
      worker.adjustShare(release, max);
    },
    /** Ids of the live workers that take partitions; empty before the first heartbeat of this worker. */
    alive: (): Iterable<string> => alive.keys(),
    leave: (): void => {
      hasLeft = true;
    },
  };
}

export interface Share {
  readonly release: number;
  /** Maximum partitions of the worker until its next heartbeat; undefined: no limit. */
  readonly max: number | undefined;
}

const NO_CHANGE: Share = { release: 0, max: undefined };
/** Workers rebalance only if a worker has at least this many partitions fewer than the average (rounded down). */
const TOLERANCE = 1;
/** In addition, the difference must be at least this part of the average (rounded down). */
const TOLERATED_PART = 0.1;

/** Keys of `owned` are worker ids; values are numbers of partitions. */
export function shareOf(id: string, owned: ReadonlyMap<string, number>): Share {
  const ranks = [...owned].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const total = ranks.reduce((sum, [, partitions]) => sum + partitions, 0);
  const floor = Math.floor(total / ranks.length);
  const fewest = ranks.at(-1)?.[1] ?? 0;
  const tolerated = Math.max(TOLERANCE, Math.floor(floor * TOLERATED_PART));
  const rank = ranks.findIndex(([name]) => name === id);
  if (rank === -1 || floor - fewest < tolerated) return NO_CHANGE;
  const share = floor + (rank < total % ranks.length ? 1 : 0);
  const release = Math.max(0, (owned.get(id) ?? 0) - share);
  // Workers that already have their share must not take released partitions.
  return { release, max: (owned.get(id) ?? 0) < share ? share + 1 : share };
}

/** A worker releases partitions only if the distribution is uneven at two consecutive heartbeats. */
export function createDampedShare(id: string): (owned: ReadonlyMap<string, number>) => Share {
  let mayRelease = false;
  return (owned) => {
    const { release, max } = shareOf(id, owned);
    const releaseNow = mayRelease ? release : 0;
    mayRelease = max !== undefined && releaseNow === 0;
    return { release: releaseNow, max };
  };
}

/** Minimum milliseconds between two sweeps of a shard by one worker. */
export const SWEEP_INTERVAL = 500;

export interface SweepOptions {
  readonly partitions: Pick<Partitions, 'findDue'>;
  readonly worker: { notify(partitions: readonly number[]): void };
  readonly shards: number;
  readonly id: string;
  /** @returns ids of the live workers that take partitions; empty if the ids are unknown */
  readonly alive: () => Iterable<string>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Notifies `worker` of partitions that need a worker, for example after a failed job. */
export function startSweep(options: SweepOptions): PollLoop {
  const { partitions, worker, shards, id, alive, logger, metrics } = options;
  // One loop for each shard: an unavailable Cluster node must not delay the sweeps on the other nodes.
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
