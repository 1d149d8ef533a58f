/**
 * Group commit: items that arrive while a batch is under way, or within the same tick, go out
 * together in the next one; each caller gets its own result. The only batcher of the house.
 */
import type { TracePoint, Tracing } from '../telemetry/tracing';

export interface BatcherOptions<I, O> {
  /** Runs one batch; the result at index i belongs to item i. A throw fails every item of the batch. */
  readonly run: (items: readonly I[]) => Promise<readonly O[]>;
  /** Most items in one batch; a function is asked anew for each. */
  readonly maxBatch: number | (() => number);
  /** Bounds the weight of a batch too; an item that is heavier than it goes alone. */
  readonly weight?: { readonly of: (item: I) => number; readonly most: number };
  /** Batches under way at the same time; the next one collects until a place is free. */
  readonly maxRunning: number;
  /**
   * Milliseconds for which the batch that began last is alone, if it takes that long: meanwhile the next one
   * collects, so that there are fewer and larger ones. Absent: none.
   */
  readonly headStart?: number | undefined;
  /** Where it is given, a batch is a span in the traces that it serves. */
  readonly tracing?: Tracing | undefined;
  /** Of that span. */
  readonly name?: string;
}

export interface Batcher<I, O> {
  /** Queues an item. Callers bound how many are waiting (MAX_IN_FLIGHT at the web process). */
  add(item: I): Promise<O>;
}

interface Waiting<I, O> {
  readonly item: I;
  readonly from: TracePoint | undefined;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatcher<I, O>(options: BatcherOptions<I, O>): Batcher<I, O> {
  return new GroupCommit(options);
}

class GroupCommit<I, O> implements Batcher<I, O> {
  private waiting: Waiting<I, O>[] = [];
  private running = 0;
  private isScheduled = false;
  private beganAt = 0;
  /** Runs while the next batch waits for the end of the head start. */
  private headStart: NodeJS.Timeout | undefined;

  constructor(private readonly options: BatcherOptions<I, O>) {}

  add(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, from: this.options.tracing?.here(), resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    const isFull = this.running >= this.options.maxRunning;
    if (this.isScheduled || this.waiting.length === 0 || isFull) return;
    this.isScheduled = true;
    const left = this.headStartLeft();
    if (left > 0) this.headStart = setTimeout(this.flush, left);
    // After the I/O of this tick: everything that arrived with it rides along.
    else setImmediate(this.flush);
  }

  /** Milliseconds for which the next batch has to wait. */
  private headStartLeft(): number {
    const { headStart } = this.options;
    if (headStart === undefined || this.running === 0) return 0;
    return this.beganAt + headStart - performance.now();
  }

  private endHeadStart(): void {
    if (!this.headStart) return;
    clearTimeout(this.headStart);
    this.headStart = undefined;
    this.isScheduled = false;
  }

  private readonly flush = (): void => {
    this.isScheduled = false;
    this.headStart = undefined;
    const size = this.sizeOfNext();
    const batch = this.waiting.slice(0, size);
    this.waiting = this.waiting.slice(size);
    this.running += 1;
    this.beganAt = performance.now();
    void this.runBatch(batch).finally(() => {
      this.running -= 1;
      this.endHeadStart();
      this.schedule();
    });
    this.schedule();
  };

  /** How many of those that wait go together: as many as both bounds allow, but at least one. */
  private sizeOfNext(): number {
    const { weight } = this.options;
    const maxBatch = this.maxBatch();
    if (!weight) return maxBatch;
    let total = 0;
    const end = this.waiting.slice(0, maxBatch).findIndex(({ item }, index) => {
      total += weight.of(item);
      return index > 0 && total > weight.most;
    });
    return end === -1 ? maxBatch : end;
  }

  private maxBatch(): number {
    const { maxBatch } = this.options;
    return typeof maxBatch === 'function' ? maxBatch() : maxBatch;
  }

  private async runBatch(batch: readonly Waiting<I, O>[]): Promise<void> {
    const { run, tracing, name = 'batch' } = this.options;
    try {
      const work = () => run(batch.map(({ item }) => item));
      const results = await (tracing ? tracing.together(name, pointsOf(batch), work) : work());
      if (results.length !== batch.length) throw new Error('a batch must give one result per item');
      results.forEach((result, index) => {
        batch[index]?.resolve(result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

const pointsOf = (batch: readonly { readonly from: TracePoint | undefined }[]): TracePoint[] =>
  batch.flatMap(({ from }) => from ?? []);
