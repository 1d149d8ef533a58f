/**
 * Runs the batches of a worker: reads pushes, calls `processBatch`, publishes the replies, and removes the pushes. One
 * batch covers many partitions, because large batches cost less per push.
 */
import assert from 'node:assert/strict';
import { type Batcher, createBatcher } from '../concurrency/batcher';
import { withTimeout } from '../concurrency/timing';
import { type Metrics, NO_METRICS } from '../observability/metrics';
import type { Partitions } from './commands/partitions';
import type { Batch, WantedPartition } from './records';
import type { Reply } from './replies';

/** The worker abandons a batch after this many milliseconds in `processBatch`. */
const PROCESSING_TIMEOUT = 8_000;
/** Minimum milliseconds between the starts of two concurrent batches. */
const HEAD_START = 50;
/** While the database commits one batch, the worker can already read and compute the next batch. */
export const CONCURRENT_BATCHES = 2;
/** @throws if the batch failed */
export type ProcessBatch<S> = (batch: Batch) => Promise<Reply<S>[]>;

export interface BatchRunnerOptions {
  readonly partitions: Partitions;
  /** Returns the `ownerText` of this worker. */
  readonly owner: () => string;
  /** Returns the id of the database session of a batch. Concurrent batches have different indexes. */
  readonly sessionOf: (index: number) => string;
  readonly processBatch: ProcessBatch<unknown>;
  /** Called when a batch is abandoned. The next batch with the same index must use a new database session. */
  readonly onAbandoned: (index: number) => void;
  readonly processingTimeout?: number;
  /** BATCH_LIMIT: maximum pushes of one batch. */
  readonly batchLimit: number;
  readonly metrics?: Metrics;
}

/** Number of pushes that remain in the partition. `LOST`: this worker does not own the partition. */
type RunResult = number | 'LOST';

export class BatchRunner {
  private readonly batches: Batcher<WantedPartition, RunResult | Error>;
  private readonly freeIndexes = Array.from({ length: CONCURRENT_BATCHES }, (_, index) => index);
  private readonly metrics: Metrics;
  private lastBatchMs = 0;
  private batchLimit: number;
  private pushes = 0;
  private abandonment = new AbortController();

  /** @param held counts the partitions whose jobs are active in this worker */
  constructor(
    private readonly options: BatchRunnerOptions,
    held: () => number,
  ) {
    this.metrics = options.metrics ?? NO_METRICS;
    this.batchLimit = options.batchLimit;
    this.batches = createBatcher({
      run: (wanted) => this.runNext(wanted),
      // A batch needs room for a push of each partition, so `batchLimit` also limits the number of partitions.
      maxBatch: () => Math.min(this.batchLimit, this.maxPartitions(held())),
      maxRunning: CONCURRENT_BATCHES,
      headStart: HEAD_START,
    });
  }

  /** @throws the error of the batch */
  async run(wanted: WantedPartition): Promise<RunResult> {
    const result = await this.batches.add(wanted);
    if (result instanceof Error) throw result;
    return result;
  }

  load(): { readonly batches: number; readonly pushes: number } {
    return { batches: CONCURRENT_BATCHES - this.freeIndexes.length, pushes: this.pushes };
  }

  /** Until `resume`, new batches and batches in `processBatch` fail with BatchAbandoned. */
  abandon(): void {
    this.abandonment.abort();
  }

  resume(): void {
    this.abandonment = new AbortController();
  }

  /** Divides the held partitions between the concurrent batches if the last batch was slow. */
  private maxPartitions(held: number): number {
    const parts = this.lastBatchMs > HEAD_START ? CONCURRENT_BATCHES : 1;
    return Math.max(1, Math.ceil(held / parts));
  }

  private runNext(wanted: readonly WantedPartition[]): Promise<(RunResult | Error)[]> {
    const index = this.freeIndexes.shift();
    assert(index !== undefined);
    return this.runBatch(wanted, index).finally(() => this.freeIndexes.unshift(index));
  }

  private async runBatch(
    wanted: readonly WantedPartition[],
    index: number,
  ): Promise<(RunResult | Error)[]> {
    const { partitions, owner, sessionOf } = this.options;
    if (this.abandonment.signal.aborted) throw new BatchAbandoned();
    const began = performance.now();
    const by = { owner: owner(), session: sessionOf(index), limit: this.batchLimit };
    const batch = await partitions.read(wanted, by);
    const pushes = batch.records.flatMap((record) => record.pushes);
    let left: ReadonlyMap<number, number | Error> = new Map();
    // Even without pushes, `processBatch` must end the open transactions of `fencedOwners`.
    if (pushes.length > 0 || batch.fencedOwners.length > 0) {
      const readAt = performance.now();
      this.metrics.batchBegan(pushes, batch.now);
      const replies = await this.process(batch, pushes.length, index);
      const sentAt = Math.round(batch.now + performance.now() - readAt);
      left = await partitions.replyAndRemove(batch, replies, sentAt);
      this.lastBatchMs = performance.now() - began;
      this.metrics.stage('batch', began);
    }
    return wanted.map(({ partition }) => batch.unread.get(partition) ?? left.get(partition) ?? 0);
  }

  private async process(batch: Batch, size: number, index: number): Promise<Reply<unknown>[]> {
    const { processBatch, onAbandoned, processingTimeout = PROCESSING_TIMEOUT } = this.options;
    const { signal } = this.abandonment;
    if (signal.aborted) throw new BatchAbandoned();
    this.pushes += size;
    try {
      const work = unlessAbandoned(processBatch(batch), signal);
      const replies = await withTimeout(work, processingTimeout, () => {
        // The database is probably too slow for a batch of this size.
        this.batchLimit = Math.max(1, Math.floor(size / 2));
        return new ProcessingTimeout(`the batch did not end within ${processingTimeout} ms`);
      });
      this.batchLimit = Math.min(this.options.batchLimit, 2 * this.batchLimit);
      return replies;
    } catch (error) {
      if (error instanceof ProcessingTimeout || error instanceof BatchAbandoned) onAbandoned(index);
      throw error;
    } finally {
      this.pushes -= size;
    }
  }
}

function unlessAbandoned<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(new BatchAbandoned());
    signal.addEventListener('abort', abandon, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abandon));
  });
}

class ProcessingTimeout extends Error {
  override readonly name = 'ProcessingTimeout';
}

/** The worker was paused before the batch ended. */
export class BatchAbandoned extends Error {
  override readonly name = 'BatchAbandoned';
}
