/**
 * The worker's end of the job groups: takes the partitions' jobs and runs them until the partitions are empty.
 * What waits in the partitions whose jobs a worker has is applied together, two partitions in a round: a round
 * costs the database and Redis much the same however many pushes it has.
 */
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { createBatcher } from '../batcher';
import { PARTITIONS } from '../domain/group';
import { foldedLog } from '../folded-log';
import type { Logger } from '../logger';
import { type Metrics, NO_METRICS } from '../metrics/metrics';
import { type RedisKeys, PARTITION_JOB_QUEUE } from './keys';
import { MAX_READ, type Partitions, type Round } from './partitions';
import { type Reply, toMessages } from './replies';
import type { PartitionJobData, PartitionJobs } from './partition-jobs';

/**
 * A dead worker's job is taken up again after at most lock + check, which is under the 3 s that
 * we promise. BullMQ renews the lock at half its time.
 */
const LOCK_DURATION = 1_500;
const STALLED_INTERVAL = 500;
/**
 * Milliseconds of one round. One that takes longer is given up, as if its worker had died: what it
 * may still have open is ended by the next one, and its guards fail should it go on after all.
 */
const ROUND_TIMEOUT = 8_000;
/** Rounds of one job before it makes room for other partitions. */
const MAX_ROUNDS = 20;
/** Rounds of a worker at the same time: while one waits for its commit, another one is made ready. */
const AT_ONCE = 2;
/** Partitions of one round. Were they all in one, they would stay together as long as they are full, and it alone. */
const MOST_PARTITIONS = PARTITIONS / AT_ONCE;

/** BullMQ reports each try to reconnect of each of its connections. */
const WORKER_ERROR = { level: 'warn', text: 'queue worker error', dueTo: ['redis'] } as const;
const JOB_FAILED = {
  level: 'warn',
  text: 'partition job failed, will be swept',
  dueTo: ['mongodb', 'redis'],
} as const;
const JOB_RECLAIMED = { level: 'warn', text: 'turn taken over from a silent worker' } as const;

/**
 * Applies the pushes of a round.
 *
 * @returns a reply for each push
 * @throws where the outcome of some is unknown: the partition jobs fail and the partitions are read again later
 */
export type ApplyRound<S> = (round: Round) => Promise<Reply<S>[]>;

export interface GroupWorkerOptions<S> {
  /** BullMQ duplicates it for blocking; must have maxRetriesPerRequest null. */
  readonly connection: Redis;
  readonly keys: RedisKeys;
  readonly partitions: Partitions;
  readonly jobs: PartitionJobs;
  /** Names who commits a round: see there. Rounds under way at the same time have slots of their own. */
  readonly holderOf: (slot: number) => string;
  readonly apply: ApplyRound<S>;
  /** Told that a round was given up: what its slot holds must not be used by the next one. */
  readonly giveUp: (slot: number) => void;
  readonly concurrency: number;
  /** Milliseconds of one round; 8,000 where it is not given. */
  readonly roundTimeout?: number;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

export interface GroupWorker {
  /** Rounds under way, and the pushes in them. */
  load(): { readonly batches: number; readonly pushes: number };
  /** Finishes the partition jobs under way, then lets go of the queue. */
  close(): Promise<void>;
}

export function createGroupWorker<S>(options: GroupWorkerOptions<S>): GroupWorker {
  const { partitions, jobs, holderOf, apply, giveUp, logger } = options;
  const { roundTimeout = ROUND_TIMEOUT, metrics = NO_METRICS } = options;
  let closing = false;

  /** How many pushes the next round takes. */
  let bound = MAX_READ;
  /** How many pushes the rounds under way hold. */
  let underRound = 0;

  /** @returns how many pushes each of the partitions still holds */
  const runRound = async (taken: readonly number[], slot: number): Promise<number[]> => {
    const began = performance.now();
    const round = await partitions.read(taken, holderOf(slot), bound);
    const pushes = round.heads.flatMap((head) => head.pushes);
    if (pushes.length === 0) return taken.map(() => 0);
    const readAt = performance.now();
    metrics.batchBegan(pushes, round.now);
    underRound += pushes.length;
    const replies = await withDeadline(apply(round), roundTimeout, () => {
      giveUp(slot);
      // It may just have been too much for a slow database: the same again would never get done.
      bound = Math.max(1, Math.floor(pushes.length / 2));
    }).finally(() => {
      underRound -= pushes.length;
    });
    bound = Math.min(MAX_READ, 2 * bound);
    const sentAt = Math.round(round.now + performance.now() - readAt);
    const left = await partitions.finish(round, toMessages(replies, sentAt));
    metrics.stage('batch', began);
    return left;
  };
  const free = Array.from({ length: AT_ONCE }, (_, slot) => slot);
  /** By partition. Partition jobs that are under way at the same time share their rounds. */
  const rounds = createBatcher<number, number>({
    run: async (taken) => {
      const slot = Number(free.shift());
      return runRound(taken, slot).finally(() => free.unshift(slot));
    },
    maxBatch: MOST_PARTITIONS,
    maxRunning: AT_ONCE,
  });

  const runJob = async (partition: number): Promise<void> => {
    for (let round = 0; round < MAX_ROUNDS && !closing; round += 1) {
      if ((await rounds.add(partition)) === 0) return;
    }
    // The rest needs another job; while this one is active, BullMQ keeps it for afterwards.
    await jobs.schedule([partition]);
  };

  // A process that was stopped and continued may be given the job that it is still running.
  const underWay = new Map<number, Promise<void>>();
  const takeJob = (partition: number): Promise<void> => {
    const before = underWay.get(partition) ?? Promise.resolve();
    const job = before.then(
      () => runJob(partition),
      () => runJob(partition),
    );
    underWay.set(partition, job);
    return job;
  };

  const worker = new Worker<PartitionJobData>(PARTITION_JOB_QUEUE, (job) => takeJob(job.data.partition), {
    connection: options.connection,
    prefix: options.keys.bullPrefix,
    concurrency: options.concurrency,
    lockDuration: LOCK_DURATION,
    stalledInterval: STALLED_INTERVAL,
    maxStalledCount: 1_000_000,
    drainDelay: 2,
  });
  const tell = foldedLog(logger);
  worker.on('error', (error) => tell(WORKER_ERROR, { error: error.message }));
  worker.on('failed', (job, error) => {
    metrics.jobFailed();
    tell(JOB_FAILED, { partition: job?.data.partition, error: error.message });
  });
  worker.on('stalled', (jobId) => {
    metrics.jobReclaimed();
    tell(JOB_RECLAIMED, { jobId });
  });
  return {
    load: () => ({ batches: AT_ONCE - free.length, pushes: underRound }),
    close: async () => {
      closing = true;
      await worker.close();
    },
  };
}

/** A round that does not come to an end. */
class RoundTimeout extends Error {
  override readonly name = 'RoundTimeout';
}

/** @throws RoundTimeout after `timeout` milliseconds; what `work` comes to then is nobody's any more */
function withDeadline<T>(work: Promise<T>, timeout: number, giveUp: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      giveUp();
      reject(new RoundTimeout(`no end after ${timeout} ms`));
    }, timeout);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
