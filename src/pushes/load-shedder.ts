/**
 * Sheds load: a push that would wait too long behind others is rejected at once, before any work,
 * instead of timing out at its deadline after all the work. Each web process judges by its own pushes:
 * how many are in flight, and how many were settled lately. If none was settled lately, the limit falls
 * to MIN_CONCURRENCY within seconds.
 */
import { PushError } from '../protocol/errors';

/** The right of a push, or of the pushes of a batch, to be in flight in this process, from receipt to answer. */
export interface Permit {
  /** One of its pushes has ended, the others go on. @param isSettled whether a worker settled it */
  end(isSettled: boolean): void;
  /**
   * Gives the permit back; a second call has no effect.
   *
   * @param settled how many of the pushes that had not ended a worker settled. Other answers say nothing about the speed of writes
   */
  release(settled: number): void;
}

export interface LoadShedderOptions {
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  /** Pushes that may be in flight while none is old enough to show how fast the workers are: MAX_IN_FLIGHT. */
  readonly mostYoung: number;
  /** Lines of batches in flight that wait beside single pushes of other clients (batch-window.ts). */
  readonly linesWaiting: () => number;
  /** Monotonic, milliseconds. */
  readonly clock: () => number;
}

/**
 * Pushes that may be in flight at any speed of the workers: so few are no overload. Each web process has
 * this number, so several processes together must not be too much for a slow database.
 */
const MIN_CONCURRENCY = 128;
/** Times the limit: how many pushes may be in flight where the next one is of a client below its fair share. */
const FAIR_SHARE_FACTOR = 1.5;
/** Milliseconds over which the rate of answers is taken: longer than the pause after a dead worker. */
const MEMORY = 5_000;
const BUCKET = 500;

/** A request in flight. */
interface InFlight {
  readonly since: number;
  readonly clientId: string;
  /** Those that have not ended. */
  pushes: number;
}

export class LoadShedder {
  /** The oldest first. */
  private readonly inFlight = new Set<InFlight>();
  /** Pushes of all of them. */
  private pushes = 0;
  private readonly byClient = new Map<string, number>();
  private readonly answered: AnswerRate;
  /** Half of the deadline for the wait: the other half is for what the estimate does not see. */
  private readonly maxWait: number;
  /** While the oldest push in flight is younger than this, pushes do not queue. */
  private readonly latencyFloor: number;

  constructor(private readonly options: LoadShedderOptions) {
    this.maxWait = options.timeout / 2;
    this.latencyFloor = options.timeout / 10;
    this.answered = new AnswerRate(options.clock);
  }

  /**
   * @param lines of a batch, which is let in as a whole; absent: a single push
   * @throws PushError BACKLOG_FULL with the seconds after which it may be let in
   */
  acquire(clientId: string, lines?: number): Permit {
    const pushes = lines ?? 1;
    this.check(clientId, pushes, lines === undefined);
    const request = { since: this.options.clock(), clientId, pushes };
    this.answered.note(0, this.inFlight.size > 0);
    this.inFlight.add(request);
    this.pushes += pushes;
    this.byClient.set(clientId, this.inFlightOf(clientId) + pushes);
    return {
      end: (isSettled) => this.end(request, isSettled),
      release: (settled) => this.release(request, settled),
    };
  }

  private check(clientId: string, pushes: number, isSingle: boolean): void {
    const { inFlight, answered, maxWait } = this;
    const [oldest] = inFlight;
    /** Before the last of these pushes. A single one is in front of lines that wait. */
    const ahead = this.pushes + pushes - 1 - (isSingle ? this.options.linesWaiting() : 0);
    if (!oldest || ahead < MIN_CONCURRENCY) return;
    answered.note(0, true);
    const rate = answered.perSecond();
    const isYoung = this.options.clock() - oldest.since < this.latencyFloor;
    const limit = isYoung
      ? this.options.mostYoung
      : Math.max(MIN_CONCURRENCY, (rate * maxWait) / 1000);
    // A client below its fair share gets in beyond the limit: the crowd is another client's.
    const fairShare = limit / Math.max(1, this.byClient.size);
    const isBelowShare = this.inFlightOf(clientId) + pushes - 1 < fairShare;
    // The age of the oldest push decides nothing more: one partition may stand still while the others do not.
    if (ahead < (isBelowShare ? FAIR_SHARE_FACTOR : 1) * limit) return;
    const over = Math.ceil((ahead - limit) / Math.max(rate, 1));
    const retryAfter = Math.min(Math.max(over, 1), Math.ceil(maxWait / 1000));
    throw new PushError('BACKLOG_FULL', { retryAfter });
  }

  private end(request: InFlight, isSettled: boolean): void {
    if (request.pushes === 0 || !this.inFlight.has(request)) return;
    this.answered.note(isSettled ? 1 : 0, true);
    this.leave(request, 1);
  }

  private release(request: InFlight, settled: number): void {
    if (!this.inFlight.delete(request)) return;
    this.answered.note(settled, true);
    this.leave(request, request.pushes);
  }

  private leave(request: InFlight, pushes: number): void {
    request.pushes -= pushes;
    this.pushes -= pushes;
    const left = this.inFlightOf(request.clientId) - pushes;
    if (left > 0) this.byClient.set(request.clientId, left);
    else this.byClient.delete(request.clientId);
  }

  private inFlightOf(clientId: string): number {
    return this.byClient.get(clientId) ?? 0;
  }
}

/** Answers per second of the time in which something waited, over the last seconds. */
class AnswerRate {
  private readonly buckets = new Map<number, { answers: number; busy: number }>();
  private last: number;

  constructor(private readonly clock: () => number) {
    this.last = clock();
  }

  /** To be called at every change. Time in which nothing waited says nothing about the speed. */
  note(answers: number, wasBusy: boolean): void {
    const now = this.clock();
    // A long silence belongs to all of the time that it took, and is forgotten like it.
    let at = Math.max(this.last, now - MEMORY);
    while (wasBusy && at < now) {
      const end = Math.min(now, (Math.floor(at / BUCKET) + 1) * BUCKET);
      this.bucketAt(at).busy += end - at;
      at = end;
    }
    this.last = now;
    this.bucketAt(now).answers += answers;
  }

  perSecond(): number {
    let answers = 0;
    let busy = 0;
    for (const bucket of this.buckets.values()) {
      answers += bucket.answers;
      busy += bucket.busy;
    }
    return (answers * 1000) / Math.max(busy, BUCKET);
  }

  private bucketAt(time: number): { answers: number; busy: number } {
    const number = Math.floor(time / BUCKET);
    for (const old of this.buckets.keys()) {
      if (old > number - MEMORY / BUCKET) break;
      this.buckets.delete(old);
    }
    const bucket = this.buckets.get(number) ?? { answers: 0, busy: 0 };
    this.buckets.set(number, bucket);
    return bucket;
  }
}
