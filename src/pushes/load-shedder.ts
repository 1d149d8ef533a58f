/**
 * Load shedding: a web process immediately rejects a push that would wait too long behind other pushes. While pushes
 * pile up, the limit of pushes in flight depends on the speed of the workers.
 */
import { PushError } from '../protocol/errors';

/** Allows a push, or the lines of a batch, to be in flight. A push is in flight between receipt and answer. */
export interface Permit {
  /** Ends one push. @param isProcessed whether a worker processed the push */
  end(isProcessed: boolean): void;
  /** Ends all remaining pushes; a second call has no effect. */
  release(): void;
}

export interface LoadShedderOptions {
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  /** MAX_IN_FLIGHT: the limit while pushes do not pile up (see `latencyFloor`). */
  readonly maxInFlight: number;
  /** Number of batch lines that have not started yet (batch-window.ts). */
  readonly linesWaiting: () => number;
  /** Monotonic, milliseconds. */
  readonly clock: () => number;
}

/** The lowest limit of pushes in flight. */
const MIN_CONCURRENCY = 128;
const FAIR_SHARE_FACTOR = 1.5;
/** Time constant of the exponential decay of `processed` and `busy`, milliseconds. */
const DECAY_TIME = 3_000;
/** Minimum value of `busy` in the computation of `perSecond`, milliseconds. */
const MIN_BUSY = 500;

interface InFlight {
  readonly since: number;
  readonly clientId: string;
  /** Pushes that have not ended. */
  pushes: number;
}

export class LoadShedder {
  /** In the order of arrival. */
  private readonly inFlight = new Set<InFlight>();
  private pushes = 0;
  private readonly byClient = new Map<string, number>();
  private processed = 0;
  /** Milliseconds with requests in flight. */
  private busy = 0;
  private measuredAt: number;
  /** While pushes pile up, the limit is the number of pushes that workers process in `maxWait` milliseconds. */
  private readonly maxWait: number;
  /** Pushes pile up if the oldest push in flight is at least this many milliseconds old. */
  private readonly latencyFloor: number;

  constructor(private readonly options: LoadShedderOptions) {
    this.maxWait = options.timeout / 2;
    this.latencyFloor = options.timeout / 10;
    this.measuredAt = options.clock();
  }

  /**
   * @param lines number of lines of a batch; absent: a single push
   * @throws PushError BACKLOG_FULL; `retryAfter` is an estimate, in seconds
   */
  acquire(clientId: string, lines?: number): Permit {
    const pushes = lines ?? 1;
    this.measure();
    this.check(clientId, pushes, lines === undefined);
    const request = { since: this.options.clock(), clientId, pushes: 0 };
    this.inFlight.add(request);
    this.add(request, pushes);
    return {
      end: (isProcessed) => this.end(request, isProcessed),
      release: () => this.release(request),
    };
  }

  private check(clientId: string, pushes: number, isSingle: boolean): void {
    const [oldest] = this.inFlight;
    /** Pushes ahead of the last push of this request. A single push overtakes the waiting lines of batches. */
    const ahead = this.pushes + pushes - 1 - (isSingle ? this.options.linesWaiting() : 0);
    if (!oldest || ahead < MIN_CONCURRENCY) return;
    const perSecond = (this.processed * 1000) / Math.max(this.busy, MIN_BUSY);
    const isYoung = this.options.clock() - oldest.since < this.latencyFloor;
    const limit = isYoung
      ? this.options.maxInFlight
      : Math.max(MIN_CONCURRENCY, (perSecond * this.maxWait) / 1000);
    // A client below its fair share may exceed the limit.
    const fairShare = limit / Math.max(1, this.byClient.size);
    const isBelowShare = this.inFlightOf(clientId) + pushes - 1 < fairShare;
    if (ahead < (isBelowShare ? FAIR_SHARE_FACTOR : 1) * limit) return;
    const over = Math.ceil((ahead - limit) / Math.max(perSecond, 1));
    const retryAfter = Math.min(Math.max(over, 1), Math.ceil(this.maxWait / 1000));
    throw new PushError('BACKLOG_FULL', { retryAfter });
  }

  private end(request: InFlight, isProcessed: boolean): void {
    if (request.pushes === 0) return;
    this.measure();
    if (isProcessed) this.processed += 1;
    this.add(request, -1);
  }

  private release(request: InFlight): void {
    this.measure();
    this.inFlight.delete(request);
    this.add(request, -request.pushes);
  }

  private add(request: InFlight, pushes: number): void {
    request.pushes += pushes;
    this.pushes += pushes;
    const sum = this.inFlightOf(request.clientId) + pushes;
    if (sum > 0) this.byClient.set(request.clientId, sum);
    else this.byClient.delete(request.clientId);
  }

  private inFlightOf(clientId: string): number {
    return this.byClient.get(clientId) ?? 0;
  }

  /** Updates `processed` and `busy`. Must be called before every other change of `processed` or `inFlight`. */
  private measure(): void {
    const now = this.options.clock();
    const kept = Math.exp((this.measuredAt - now) / DECAY_TIME);
    this.measuredAt = now;
    this.processed *= kept;
    this.busy = this.busy * kept + (this.inFlight.size > 0 ? DECAY_TIME * (1 - kept) : 0);
  }
}
