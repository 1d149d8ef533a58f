/**
 * Runs a worker's batches: reads some partitions, has their pushes processed, and acknowledges. A worker
 * that has the jobs of several partitions reads two of them in one batch: a batch costs the database
 * and Redis much the same however many pushes it has.
 */
import assert from 'node:assert/strict';
import { type Batcher, createBatcher } from '../concurrency/batcher';
import { withTimeout } from '../concurrency/timeout';
import { PARTITIONS } from '../domain/group';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';
import { type Batch, MAX_BATCH_SIZE, type Partitions } from './partitions';
import { type Reply, toMessages } from './replies';

/**
 * Milliseconds of one batch. One that takes longer is given up, as if its worker had died: the next
 * batch ends its open transaction, and its guards fail should it go on after all.
 */
const PROCESSING_TIMEOUT = 8_000;
/** Batches of a worker at a time: while one waits for its commit, the next one is read and folded. */
const CONCURRENT_BATCHES = 2;
/** With all partitions in one batch, only one batch would ever run at a time under load. */
const MAX_PARTITIONS_PER_BATCH = PARTITIONS / CONCURRENT_BATCHES;

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
  /** The owner of a batch: see owner.ts. Concurrent batches have different indexes. */
  readonly ownerOf: (index: number) => string;
  readonly processBatch: ProcessBatch<unknown>;
  /** Called when a batch has timed out: the next batch at this index must not use its session. */
  readonly onTimeout: (index: number) => void;
  /** Milliseconds of one batch; 8,000 where it is not given. */
  readonly processingTimeout?: number;
  readonly metrics?: Metrics;
}

export class BatchRunner {
  /** Takes partitions. Those that are asked for at the same time share a batch. */
  private readonly batches: Batcher<number, number>;
  private readonly freeIndexes = Array.from({ length: CONCURRENT_BATCHES }, (_, index) => index);
  private readonly metrics: Metrics;
  /** Pushes that the next batch may have. */
  private batchLimit = MAX_BATCH_SIZE;
  /** Pushes of all batches under way. */
  private pushesUnderWay = 0;

  constructor(private readonly options: BatchRunnerOptions) {
    this.metrics = options.metrics ?? NO_METRICS;
    this.batches = createBatcher({
      run: (partitions) => this.runNext(partitions),
      maxBatch: MAX_PARTITIONS_PER_BATCH,
      maxRunning: CONCURRENT_BATCHES,
    });
  }

  /**
   * Has the first pushes of a partition applied, in a batch with those of others.
   *
   * @returns how many pushes the partition still holds
   * @throws where the batch failed, of whatever partition
   */
  run(partition: number): Promise<number> {
    return this.batches.add(partition);
  }

  /** Batches under way, and the pushes in them. */
  load(): { readonly batches: number; readonly pushes: number } {
    return {
      batches: CONCURRENT_BATCHES - this.freeIndexes.length,
      pushes: this.pushesUnderWay,
    };
  }

  private runNext(partitions: readonly number[]): Promise<number[]> {
    const index = this.freeIndexes.shift();
    // The batcher runs no more of them than there are.
    assert(index !== undefined);
    return this.runBatch(partitions, index).finally(() => this.freeIndexes.unshift(index));
  }

  /** @returns how many pushes each of the partitions still holds */
  private async runBatch(taken: readonly number[], index: number): Promise<number[]> {
    const { partitions, ownerOf } = this.options;
    const began = performance.now();
    const batch = await partitions.read(taken, ownerOf(index), this.batchLimit);
    const pushes = batch.records.flatMap((one) => one.pushes);
    if (pushes.length === 0) return taken.map(() => 0);
    const readAt = performance.now();
    this.metrics.batchBegan(pushes, batch.now);
    const replies = await this.process(batch, pushes.length, index);
    const sentAt = Math.round(batch.now + performance.now() - readAt);
    const left = await partitions.acknowledge(batch, toMessages(replies, sentAt));
    this.metrics.stage('batch', began);
    return left;
  }

  /** @throws ProcessingTimeout after the processing timeout; what the batch comes to is ignored then */
  private async process(batch: Batch, size: number, index: number): Promise<Reply<unknown>[]> {
    const { processBatch, onTimeout, processingTimeout = PROCESSING_TIMEOUT } = this.options;
    this.pushesUnderWay += size;
    try {
      const replies = await withTimeout(processBatch(batch), processingTimeout, () => {
        onTimeout(index);
        // It may just have been too much for a slow database: the same again would never get done.
        this.batchLimit = Math.max(1, Math.floor(size / 2));
        return new ProcessingTimeout(`no end after ${processingTimeout} ms`);
      });
      this.batchLimit = Math.min(MAX_BATCH_SIZE, 2 * this.batchLimit);
      return replies;
    } finally {
      this.pushesUnderWay -= size;
    }
  }
}

/** Processing a batch took too long. */
class ProcessingTimeout extends Error {
  override readonly name = 'ProcessingTimeout';
}
