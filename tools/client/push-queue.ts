/** Everything that a client has to send: calls that go alone, and pushes that go in batches. */
import { Batches, type BatchWays } from './batches';
import type { Call } from './call';
import { Dispatcher } from './dispatcher';
import { beginTurn, type Turn, waitForTurn } from './key-order';
import { PendingPush, type PushEnd } from './pending-push';
import type { OutgoingPush } from './try-pushes';

export interface PushQueueOptions
  extends Pick<BatchWays, 'sender' | 'gate' | 'retries' | 'onRetry'> {
  /** Requests under way. */
  readonly concurrency: number;
  /** Most pushes of a batch. */
  readonly maxItems: number;
  /** Milliseconds that a push waits for others to go with. */
  readonly maxWait: number | undefined;
}

/** Batches under way: the service works on a few at a time, more would only wait there. */
const BATCHES = 8;

/** A push with the matter that it is about; undefined: it depends on no other. */
export interface KeyedPush {
  readonly key: string | undefined;
  readonly push: OutgoingPush;
  readonly told: PushEnd;
}

export class PushQueue {
  readonly #turns: Dispatcher<Turn | PendingPush>;
  readonly #batches: Batches;
  readonly #options: PushQueueOptions;
  /** Those that wait for others to go with. */
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
      lines: Math.min(maxItems, this.#batches.mostLines()),
      bytes: this.#batches.mostBytes(),
    });
    this.#turns = new Dispatcher(limits, (lines) => this.#begin(lines));
  }

  /** How many wait for their turn, or for their next try. */
  get waiting(): number {
    return this.#turns.waiting + this.#gathered.length + this.#batches.backingOff;
  }

  /** @returns what ends the turn of a call that goes alone, once it has it */
  turn(key: string | undefined, signal: AbortSignal): Promise<() => void> {
    this.#enter();
    return waitForTurn(this.#turns, { number: this.#nextNumber(), key }, signal);
  }

  /** Pushes of one call, which go together where they may. */
  add(call: Call, pushes: readonly KeyedPush[]): void {
    this.#enter();
    const pending = pushes.map((push) => this.#toPending(call, push));
    watchCall(call, pending, (push) => this.#leave(push));
    this.#turns.add(pending.filter(({ isOver }) => !isOver));
  }

  /** A push that waits for those of other calls, to go with them. */
  gather(call: Call, push: KeyedPush): void {
    const pending = this.#toPending(call, push);
    watchCall(call, [pending], () => this.#leave(pending));
    if (pending.isOver) return;
    this.#gathered.push(pending);
    const { maxItems, maxWait } = this.#options;
    if (this.#gathered.length >= maxItems) this.#enter();
    else this.#timer ??= setTimeout(() => this.#enter(), maxWait);
  }

  /** What was gathered so far waits no longer. */
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
    // They go alone, or all of them in a batch.
    if (first && 'begin' in first) return beginTurn(first);
    return this.#batches.send(lines as readonly PendingPush[]);
  }

  #toPending(call: Call, { key, push, told }: KeyedPush): PendingPush {
    return new PendingPush(this.#nextNumber(), key, push, call, told);
  }

  #nextNumber(): number {
    this.#arrivals += 1;
    return this.#arrivals;
  }
}

/** One listener for all of them: a call may have very many. @param leave it waits, and gave up */
function watchCall(
  { stopped, cut }: Call,
  pushes: readonly PendingPush[],
  leave: (push: PendingPush) => void,
): void {
  const giveUp = (isCut: boolean) => {
    for (const push of pushes) {
      // What is under way is waited for, unless it was cut.
      if (push.isOver || (push.isSent && !isCut)) continue;
      push.stopped(stopped.reason);
      if (!push.isTaken) leave(push);
    }
  };
  if (stopped.aborted) for (const push of pushes) push.stopped(stopped.reason);
  stopped.addEventListener('abort', () => giveUp(false), { once: true });
  cut.addEventListener('abort', () => giveUp(true), { once: true });
}
