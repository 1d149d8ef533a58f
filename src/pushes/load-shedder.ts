/**
 * Load shedding: a push that would wait too long behind other pushes is rejected before any work, instead of timing out
 * after all the work. Each web process limits the number of its pushes in flight. While pushes pile up, the limit
 * follows from the rate at which workers processed pushes of this process in the last seconds. If workers process no
 * push of this process, the limit falls to MIN_CONCURRENCY within seconds.
 */
import { PushError } from '../protocol/errors';

/** Permits a push, or the lines of a batch, to be in flight. A push is in flight from receipt to answer. */
export interface Permit {
  /**
   * Reports that one of the pushes has ended.
   *
   * @param isProcessed whether a worker processed the push; the rate of the workers counts only processed pushes
   */
  end(isProcessed: boolean): void;
  /** Ends all remaining pushes of the permit. A second call has no effect. */
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

/**
 * The minimum of the limit, even if workers process nothing. The minimum is low because each web process has its own
 * limit: several processes together must not overload a slow database.
 */
const MIN_CONCURRENCY = 128;
/** For a client below its fair share, the limit is multiplied by this factor. */
const FAIR_SHARE_FACTOR = 1.5;
/**
 * Milliseconds after which a processed push counts in the measured rate about a third as much as a push that was
 * processed just now. If a worker dies, other workers take over before the measured rate falls to almost zero.
 */
const MEMORY = 3_000;
/** Minimum milliseconds over which the rate is computed: the rate over a shorter time is not reliable. */
const MIN_BUSY = 500;

/** A request in flight. */
interface InFlight {
  readonly since: number;
  readonly clientId: string;
  /** Pushes that have not ended. */
  pushes: number;
}

export class LoadShedder {
  /** In the order of arrival. */
  private readonly inFlight = new Set<InFlight>();
  /** Pushes of all requests in flight. */
  private pushes = 0;
  private readonly byClient = new Map<string, number>();
  /**
   * Pushes that workers processed, and the milliseconds in which pushes were in flight. Both decay exponentially
   * (MEMORY).
   */
  private processed = 0;
  private busy = 0;
  private measuredAt: number;
  /**
   * Milliseconds: half of the timeout. The limit is the number of pushes that workers can process in this time, at the
   * measured rate.
   */
  private readonly maxWait: number;
  /**
   * Milliseconds: a tenth of the timeout. While the oldest push in flight is younger than `latencyFloor`, pushes do not
   * pile up, and the limit is MAX_IN_FLIGHT.
   */
  private readonly latencyFloor: number;

  constructor(private readonly options: LoadShedderOptions) {
    this.maxWait = options.timeout / 2;
    this.latencyFloor = options.timeout / 10;
    this.measuredAt = options.clock();
  }

  /**
   * @param lines number of lines of a batch, which is admitted as a whole; absent: a single push
   * @throws PushError BACKLOG_FULL; `retryAfter` estimates after how many seconds a retry is admitted
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
    // A client below its fair share may exceed the limit, because another client causes the overload.
    const fairShare = limit / Math.max(1, this.byClient.size);
    const isBelowShare = this.inFlightOf(clientId) + pushes - 1 < fairShare;
    // The age of the oldest push only decides which limit applies. An old push alone is no reason to reject this
    // request: perhaps only the partition of the old push is blocked.
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

  /**
   * Updates `processed` and `busy`. Called before every change of `inFlight`. Time without pushes in flight does not
   * count, because such time does not show how fast workers are.
   */
  private measure(): void {
    const now = this.options.clock();
    const kept = Math.exp((this.measuredAt - now) / MEMORY);
    this.measuredAt = now;
    this.processed *= kept;
    this.busy = this.busy * kept + (this.inFlight.size > 0 ? MEMORY * (1 - kept) : 0);
  }
}
