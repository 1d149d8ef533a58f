/** Group commit: passes the items of several `add` calls to one call of `run`. */

/** The methods of `Tracing` that a batch needs. A point is a position in a trace. */
interface BatchTracing {
  here(): object;
  together<T>(name: string, points: readonly object[], work: () => Promise<T>): Promise<T>;
}

export interface BatcherOptions<I, O> {
  /** The result at index i belongs to item i. An error rejects every item of the batch. */
  readonly run: (items: readonly I[]) => Promise<readonly O[]>;
  /** Maximum items in one batch. */
  readonly maxBatch: number | (() => number);
  /** Limits the total weight of a batch. A single item above `max` forms a batch alone. */
  readonly weight?: { readonly of: (item: I) => number; readonly max: number };
  /** Maximum concurrent batches. */
  readonly maxRunning: number;
  /** Minimum milliseconds between the starts of two concurrent batches (default 0). */
  readonly headStart?: number | undefined;
  readonly tracing?: BatchTracing | undefined;
  /** Name of the span of a batch. */
  readonly name?: string;
}

export interface Batcher<I, O> {
  /** The batcher does not limit the number of waiting items. */
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
    // With `setImmediate`, the batch includes all items of this event-loop turn.
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
      if (results.length !== batch.length) throw new Error('`run` must return one result per item');
      results.forEach((result, index) => {
        batch[index]?.resolve(result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

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
