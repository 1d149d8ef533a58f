/**
 * Group commit: collects the items of several calls of `add`, and passes these items to one call of `run`. Each call
 * of `add` returns the result of its own item. In this file, "batch" means the items of one call of `run`, not the
 * batch of a worker or of a caller.
 */

/**
 * The part of `Tracing` that makes one span for work of several traces. `here` returns a point: the current position in
 * a trace.
 */
interface BatchTracing {
  here(): object;
  together<T>(name: string, points: readonly object[], work: () => Promise<T>): Promise<T>;
}

export interface BatcherOptions<I, O> {
  /** Runs one batch. The result at index i belongs to item i. An error rejects every item of the batch. */
  readonly run: (items: readonly I[]) => Promise<readonly O[]>;
  /** Maximum items in one batch. If this is a function, the batcher calls it for each batch. */
  readonly maxBatch: number | (() => number);
  /** Limits the total weight of a batch. An item above this limit forms a batch of its own. */
  readonly weight?: { readonly of: (item: I) => number; readonly max: number };
  /** Maximum concurrent batches. Further items wait until a batch ends. */
  readonly maxRunning: number;
  /**
   * Minimum milliseconds from the start of the newest batch to the start of the next batch. More items can
   * then join the next batch. If no batch runs, the next batch starts immediately. Default: 0.
   */
  readonly headStart?: number | undefined;
  /**
   * If set, a batch with traced items has one span. The span is in the trace of the first item whose trace is recorded,
   * and has links to the other recorded traces.
   */
  readonly tracing?: BatchTracing | undefined;
  /** Name of the span of a batch. */
  readonly name?: string;
}

export interface Batcher<I, O> {
  /** Queues an item. Callers must limit the number of waiting items, for example by MAX_IN_FLIGHT. */
  add(item: I): Promise<O>;
}

interface WaitingItem<I, O> {
  readonly item: I;
  readonly tracePoint: object | undefined;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatcher<I, O>(options: BatcherOptions<I, O>): Batcher<I, O> {
  return new GroupCommit(options);
}

class GroupCommit<I, O> implements Batcher<I, O> {
  private waiting: WaitingItem<I, O>[] = [];
  private running = 0;
  private isScheduled = false;
  private beganAt = 0;
  /** Set while the next batch waits for the end of `options.headStart`. */
  private headStartTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: BatcherOptions<I, O>) {}

  add(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, tracePoint: this.options.tracing?.here(), resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    const isFull = this.running >= this.options.maxRunning;
    if (this.isScheduled || this.waiting.length === 0 || isFull) return;
    this.isScheduled = true;
    const { headStart = 0 } = this.options;
    const left = this.running === 0 ? 0 : this.beganAt + headStart - performance.now();
    if (left > 0) this.headStartTimer = setTimeout(this.flush, left);
    // setImmediate runs after the I/O of this tick, so that the batch includes all items of the tick.
    else setImmediate(this.flush);
  }

  private readonly flush = (): void => {
    this.isScheduled = false;
    this.headStartTimer = undefined;
    const size = this.sizeOfNext();
    const batch = this.waiting.slice(0, size);
    this.waiting = this.waiting.slice(size);
    this.running += 1;
    this.beganAt = performance.now();
    void this.runBatch(batch).finally(() => {
      this.running -= 1;
      if (this.headStartTimer) {
        clearTimeout(this.headStartTimer);
        this.headStartTimer = undefined;
        this.isScheduled = false;
      }
      this.schedule();
    });
    this.schedule();
  };

  /** Size of the next batch: as many waiting items as `maxBatch` and `weight.max` allow, at least one. */
  private sizeOfNext(): number {
    const { weight, maxBatch } = this.options;
    const max = typeof maxBatch === 'function' ? maxBatch() : maxBatch;
    if (!weight) return max;
    let total = 0;
    const end = this.waiting.slice(0, max).findIndex(({ item }, index) => {
      total += weight.of(item);
      return index > 0 && total > weight.max;
    });
    return end === -1 ? max : end;
  }

  private async runBatch(batch: readonly WaitingItem<I, O>[]): Promise<void> {
    const { run, tracing, name = 'batch' } = this.options;
    try {
      const work = () => run(batch.map(({ item }) => item));
      const points = batch.flatMap(({ tracePoint }) => tracePoint ?? []);
      const results = await (tracing ? tracing.together(name, points, work) : work());
      if (results.length !== batch.length) throw new Error('a batch must give one result per item');
      results.forEach((result, index) => {
        batch[index]?.resolve(result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** Groups items into lists of at most `size` and keeps their order. */
export async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
