/** The worker's end of the job groups: takes turns and runs them until the lane is empty. */
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Logger } from '../logger';
import { type Metrics, NO_METRICS } from '../metrics/metrics';
import { type RedisKeys, TURN_QUEUE } from './keys';
import { type LaneRead, type Lanes, MAX_READ } from './lanes';
import { type Reply, toMessages } from './replies';
import type { TurnData, Turns } from './turns';

/**
 * A dead worker's turn is taken up again after at most lock + check, which is under the 3 s that
 * we promise. BullMQ renews the lock at half its time.
 */
const LOCK_DURATION = 1_500;
const STALLED_INTERVAL = 500;
/**
 * Milliseconds of one round. One that takes longer is given up, as if its worker had died: what it
 * may still have open is ended by the next one, and its guards fail should it go on after all.
 */
const ROUND_TIMEOUT = 8_000;
/** Rounds of one turn before it lets other lanes have the place. */
const MAX_ROUNDS = 20;

/**
 * Applies the pushes that were read from a lane.
 *
 * @returns a reply for each push
 * @throws where the outcome of some is unknown: the turn fails and the lane is read again later
 */
export type ApplyTurn<S> = (read: LaneRead) => Promise<Reply<S>[]>;

export interface GroupWorkerOptions<S> {
  /** BullMQ duplicates it for blocking; must have maxRetriesPerRequest null. */
  readonly connection: Redis;
  readonly keys: RedisKeys;
  readonly lanes: Lanes;
  readonly turns: Turns;
  /** Names who commits the pushes of a lane: see LaneRead. */
  readonly holderOf: (lane: number) => string;
  readonly apply: ApplyTurn<S>;
  /** Told that a round was given up: what it holds must not be used by the next one. */
  readonly giveUp: (lane: number) => void;
  readonly concurrency: number;
  /** Milliseconds of one round; 8,000 where it is not given. */
  readonly roundTimeout?: number;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

export interface GroupWorker {
  /** Finishes the turns under way, then lets go of the queue. */
  close(): Promise<void>;
}

export function createGroupWorker<S>(options: GroupWorkerOptions<S>): GroupWorker {
  const { lanes, turns, holderOf, apply, giveUp, logger } = options;
  const { roundTimeout = ROUND_TIMEOUT, metrics = NO_METRICS } = options;
  let closing = false;

  /** How many pushes a lane's next round takes, where it takes fewer than it might. */
  const bounds = new Map<number, number>();
  const givenUp = (lane: number, took: number) => {
    giveUp(lane);
    // It may just have been too much for a slow database: the same again would never get done.
    bounds.set(lane, Math.max(1, Math.floor(took / 2)));
  };
  const done = (lane: number) => {
    const bound = 2 * (bounds.get(lane) ?? MAX_READ);
    if (bound < MAX_READ) bounds.set(lane, bound);
    else bounds.delete(lane);
  };

  const runTurn = async (lane: number): Promise<void> => {
    for (let round = 0; round < MAX_ROUNDS && !closing; round += 1) {
      const began = performance.now();
      const read = await lanes.read(lane, holderOf(lane), bounds.get(lane));
      const count = read.pushes.length;
      if (count === 0) return;
      const readAt = performance.now();
      metrics.turnBegan(read.pushes, read.now);
      const replies = await withDeadline(apply(read), roundTimeout, () => givenUp(lane, count));
      done(lane);
      const sentAt = Math.round(read.now + performance.now() - readAt);
      const left = await lanes.finish(read, toMessages(replies, sentAt));
      metrics.stage('turn', began);
      if (left === 0) return;
    }
    // What is left is owed a turn; while this one is active, BullMQ keeps it for afterwards.
    await turns.wake([lane]);
  };

  // A process that was stopped and continued may be given the turn that it is still running.
  const underWay = new Map<number, Promise<void>>();
  const takeTurn = (lane: number): Promise<void> => {
    const before = underWay.get(lane) ?? Promise.resolve();
    const turn = before.then(
      () => runTurn(lane),
      () => runTurn(lane),
    );
    underWay.set(lane, turn);
    return turn;
  };

  const worker = new Worker<TurnData>(TURN_QUEUE, (job) => takeTurn(job.data.lane), {
    connection: options.connection,
    prefix: options.keys.bullPrefix,
    concurrency: options.concurrency,
    lockDuration: LOCK_DURATION,
    stalledInterval: STALLED_INTERVAL,
    maxStalledCount: 1_000_000,
    drainDelay: 2,
  });
  worker.on('error', (error) => logger.warn({ error: error.message }, 'queue worker error'));
  worker.on('failed', (job, error) => {
    metrics.turnFailed();
    logger.warn({ lane: job?.data.lane, error: error.message }, 'turn failed, will be swept');
  });
  worker.on('stalled', (jobId) => {
    metrics.turnTakenOver();
    logger.warn({ jobId }, 'turn taken over from a silent worker');
  });
  return {
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
