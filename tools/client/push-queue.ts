/** The queue of a client: calls that are sent alone, and pushes that are sent in batches. */
import { Batches, type BatchWays } from './batches';
import type { Call } from './call';
import { Dispatcher } from './dispatcher';
import { beginTurn, type Turn, waitForTurn } from './key-order';
import { PendingPush, type PushEnd } from './pending-push';
import type { OutgoingPush } from './try-pushes';

export interface PushQueueOptions
  extends Pick<BatchWays, 'sender' | 'gate' | 'retries' | 'onRetry'> {
  /** Maximum concurrent requests. */
  readonly concurrency: number;
  /** Maximum pushes in a batch. */
  readonly maxItems: number;
  /** Milliseconds that a single push waits for other pushes of its batch. */
  readonly maxWait: number | undefined;
}

/**
 * Maximum concurrent batches. The service processes few batches of a client at a time; further batches would wait
 * there.
 */
const BATCHES = 8;

/** A push and the key of its matter. */
export interface KeyedPush {
  /** Undefined: the push does not depend on other pushes. */
  readonly key: string | undefined;
  readonly push: OutgoingPush;
  readonly onEnd: PushEnd;
}

export class PushQueue {
  readonly #turns: Dispatcher<Turn | PendingPush>;
  readonly #batches: Batches;
  readonly #options: PushQueueOptions;
  /** Single pushes that wait for other pushes of their batch. */
  #gathered: PendingPush[] = [];
  #timer: NodeJS.Timeout | undefined;
  #arrivals = 0;

  constructor(options: PushQueueOptions) {
    const { concurrency, maxItems } = options;
    this.#options = options;
    this.#batches = new Batches({
      ...options,
      end: (pushes) => this.#turns.end(pushes),
      again: (pushes) => this.#turns.again(pushes),
    });
    const limits = () => ({
      requests: concurrency,
      batches: Math.min(concurrency, BATCHES),
      lines: Math.min(maxItems, this.#batches.maxLines()),
      bytes: this.#batches.maxBytes(),
    });
    this.#turns = new Dispatcher(limits, (lines) => this.#begin(lines));
  }

  /** Number of calls and pushes that wait for their turn or for their next try. */
  get waiting(): number {
    return this.#turns.waiting + this.#gathered.length + this.#batches.backingOff;
  }

  /** Waits for the turn of a call that is sent alone. @returns a function that ends the turn */
  turn(key: string | undefined, signal: AbortSignal): Promise<() => void> {
    this.#enter();
    return waitForTurn(this.#turns, { number: this.#nextNumber(), key }, signal);
  }

  /** Adds the pushes of one call, which share batches if possible. */
  add(call: Call, pushes: readonly KeyedPush[]): void {
    this.#enter();
    const pending = pushes.map((push) => this.#toPending(call, push));
    watchCall(call, pending, (push) => this.#leave(push));
    this.#turns.add(pending.filter(({ isOver }) => !isOver));
  }

  /** Adds a single push, which waits for pushes of other calls to share a batch. */
  gather(call: Call, push: KeyedPush): void {
    const pending = this.#toPending(call, push);
    watchCall(call, [pending], () => this.#leave(pending));
    if (pending.isOver) return;
    this.#gathered.push(pending);
    const { maxItems, maxWait } = this.#options;
    if (this.#gathered.length >= maxItems) this.#enter();
    else this.#timer ??= setTimeout(() => this.#enter(), maxWait);
  }

  /** Moves the gathered pushes into the queue. */
  #enter(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = [];
    if (gathered.length > 0) this.#turns.add(gathered);
  }

  #leave(push: PendingPush): void {
    const at = this.#gathered.indexOf(push);
    if (at !== -1) this.#gathered.splice(at, 1);
    else this.#turns.leave([push]);
  }

  #begin(lines: readonly (Turn | PendingPush)[]): Promise<void> {
    const [first] = lines;
    // The lines are one turn, or all of them are pushes of a batch.
    if (first && 'begin' in first) return beginTurn(first);
    return this.#batches.send(lines as readonly PendingPush[]);
  }

  #toPending(call: Call, { key, push, onEnd }: KeyedPush): PendingPush {
    return new PendingPush(this.#nextNumber(), key, push, call, onEnd);
  }

  #nextNumber(): number {
    this.#arrivals += 1;
    return this.#arrivals;
  }
}

/** Ends the pushes of a call that is stopped. One listener serves all of them. @param leave removes a waiting push */
function watchCall(
  { stopped, cut }: Call,
  pushes: readonly PendingPush[],
  leave: (push: PendingPush) => void,
): void {
  const giveUp = (isCut: boolean) => {
    for (const push of pushes) {
      // A push whose request is running waits for the answer, unless the call was cut.
      if (push.isOver || (push.isSent && !isCut)) continue;
      push.stopped(stopped.reason);
      if (!push.isTaken) leave(push);
    }
  };
  if (stopped.aborted) for (const push of pushes) push.stopped(stopped.reason);
  stopped.addEventListener('abort', () => giveUp(false), { once: true });
  cut.addEventListener('abort', () => giveUp(true), { once: true });
}
