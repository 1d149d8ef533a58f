/**
 * Runs a worker's batches: reads some partitions, has their pushes processed, and acknowledges. A batch
 * spans whatever partitions the worker holds and has been rung for: it costs the database and Redis
 * much the same however many pushes it has.
 */
import assert from 'node:assert/strict';
import { type Batcher, createBatcher } from '../concurrency/batcher';
import { withTimeout } from '../concurrency/timeout';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';
import type { Wanted } from './partition-commands';
import type { Batch, Partitions, Unread } from './partitions';
import type { Reply } from './replies';

/**
 * Milliseconds of one batch. One that takes longer is given up, as if its worker had died: the next
 * batch ends its open transaction, and its guards fail should it go on after all.
 */
const PROCESSING_TIMEOUT = 8_000;
/** Milliseconds for which a batch is alone, so that the next one is larger. */
const HEAD_START = 50;
/** Batches of a worker at a time: while one waits for its commit, the next one is read and folded. */
export const CONCURRENT_BATCHES = 2;
/** Pushes: two fifths of what eight batches of 200 hold. More saved nothing (docs/performance.md). */
const MAX_BATCH_SIZE = 640;

/**
 * Applies the pushes of a batch.
 *
 * @returns a reply for each push whose final state is known
 * @throws where the outcome of some is unknown: the partition jobs fail and the partitions are read
 *   again later
 */
export type ProcessBatch<S> = (batch: Batch) => Promise<Reply<S>[]>;

export interface BatchRunnerOptions {
  readonly partitions: Partitions;
  /** The worker as the owner of its partitions: see owner.ts. */
  readonly owner: () => string;
  /** The database session in which a batch commits. Concurrent batches have different indexes. */
  readonly sessionOf: (index: number) => string;
  readonly processBatch: ProcessBatch<unknown>;
  /** Called when a batch is given up: the next batch at this index must not use its session. */
  readonly onGivenUp: (index: number) => void;
  /** Milliseconds of one batch; 8,000 where it is not given. */
  readonly processingTimeout?: number;
  /** Pushes of one batch at most; 640 where it is not given. */
  readonly batchLimit?: number;
  readonly metrics?: Metrics;
}

/** How many pushes a partition still holds, or why it was not read. */
export type Ran = number | Exclude<Unread, Error>;

export class BatchRunner {
  /** Takes partitions. Those that are asked for at the same time share a batch. */
  private readonly batches: Batcher<Wanted, Ran | Error>;
  private readonly freeIndexes = Array.from({ length: CONCURRENT_BATCHES }, (_, index) => index);
  private readonly metrics: Metrics;
  private readonly maxBatch: number;
  /** Milliseconds of the last batch. */
  private lastTook = 0;
  /** Pushes that the next batch may have. */
  private batchLimit: number;
  /** Pushes of all batches under way. */
  private pushesUnderWay = 0;
  /** Aborted from `abandon` to `resume`. */
  private working = new AbortController();

  /** @param held how many partitions this worker holds */
  constructor(
    private readonly options: BatchRunnerOptions,
    held: () => number,
  ) {
    this.metrics = options.metrics ?? NO_METRICS;
    this.maxBatch = options.batchLimit ?? MAX_BATCH_SIZE;
    this.batchLimit = this.maxBatch;
    this.batches = createBatcher({
      run: (wanted) => this.runNext(wanted),
      // Each partition that is read gives a push at least.
      maxBatch: () => Math.min(this.batchLimit, this.partsOf(held())),
      maxRunning: CONCURRENT_BATCHES,
      headStart: HEAD_START,
    });
  }

  /**
   * Has the first pushes of a partition applied, in a batch with those of others.
   *
   * @throws where the batch failed, of whatever partition
   */
  async run(wanted: Wanted): Promise<Ran> {
    const ran = await this.batches.add(wanted);
    if (ran instanceof Error) throw ran;
    return ran;
  }

  /**
   * All partitions go together where batches are quick: fewer and larger ones cost less. Where the database
   * is slow, half of them: with all in one batch, only one would ever be under way.
   */
  private partsOf(held: number): number {
    const parts = this.lastTook > HEAD_START ? CONCURRENT_BATCHES : 1;
    return Math.max(1, Math.ceil(held / parts));
  }

  /** Batches under way, and the pushes in them. */
  load(): { readonly batches: number; readonly pushes: number } {
    return {
      batches: CONCURRENT_BATCHES - this.freeIndexes.length,
      pushes: this.pushesUnderWay,
    };
  }

  /** Gives up the batches under way. Until `resume` none is begun: all fail with BatchAbandoned. */
  abandon(): void {
    this.working.abort();
  }

  resume(): void {
    this.working = new AbortController();
  }

  private runNext(wanted: readonly Wanted[]): Promise<(Ran | Error)[]> {
    const index = this.freeIndexes.shift();
    // The batcher runs no more of them than there are.
    assert(index !== undefined);
    return this.runBatch(wanted, index).finally(() => this.freeIndexes.unshift(index));
  }

  private async runBatch(wanted: readonly Wanted[], index: number): Promise<(Ran | Error)[]> {
    const { partitions, owner, sessionOf } = this.options;
    if (this.working.signal.aborted) throw new BatchAbandoned();
    const began = performance.now();
    const session = sessionOf(index);
    const by = { owner: owner(), session, most: this.batchLimit };
    const batch = await partitions.read(wanted, by);
    const pushes = batch.records.flatMap((one) => one.pushes);
    // Without a push, too, whoever was fenced is to be ended.
    const isIdle = pushes.length === 0 && batch.fencedOwners.length === 0;
    if (isIdle) return wanted.map(({ partition }) => batch.unread.get(partition) ?? 0);
    const readAt = performance.now();
    this.metrics.batchBegan(pushes, batch.now);
    const replies = await this.process(batch, pushes.length, index);
    const sentAt = Math.round(batch.now + performance.now() - readAt);
    const left = await partitions.acknowledge(batch, replies, sentAt);
    this.lastTook = performance.now() - began;
    this.metrics.stage('batch', began);
    return wanted.map(({ partition }) => batch.unread.get(partition) ?? left.get(partition) ?? 0);
  }

  /** @throws ProcessingTimeout or BatchAbandoned; what the batch comes to is ignored then */
  private async process(batch: Batch, size: number, index: number): Promise<Reply<unknown>[]> {
    const { processBatch, onGivenUp, processingTimeout = PROCESSING_TIMEOUT } = this.options;
    const { signal } = this.working;
    if (signal.aborted) throw new BatchAbandoned();
    this.pushesUnderWay += size;
    try {
      const work = unlessAbandoned(processBatch(batch), signal);
      const replies = await withTimeout(work, processingTimeout, () => {
        // It may just have been too much for a slow database: the same again would never get done.
        this.batchLimit = Math.max(1, Math.floor(size / 2));
        return new ProcessingTimeout(`no end after ${processingTimeout} ms`);
      });
      this.batchLimit = Math.min(this.maxBatch, 2 * this.batchLimit);
      return replies;
    } catch (error) {
      if (error instanceof ProcessingTimeout || error instanceof BatchAbandoned) onGivenUp(index);
      throw error;
    } finally {
      this.pushesUnderWay -= size;
    }
  }
}

/** @throws BatchAbandoned once the signal is aborted */
function unlessAbandoned<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(new BatchAbandoned());
    signal.addEventListener('abort', abandon, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abandon));
  });
}

/** Processing a batch took too long. */
class ProcessingTimeout extends Error {
  override readonly name = 'ProcessingTimeout';
}

/** The worker gives up its batches: it was paused. */
export class BatchAbandoned extends Error {
  override readonly name = 'BatchAbandoned';
}
