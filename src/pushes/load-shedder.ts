/**
 * Sheds load: a push that would wait too long behind others is rejected at once, before any work,
 * instead of timing out at its deadline after all the work. Each web process judges by its own pushes:
 * how many are in flight, and how many were settled lately. If none was settled lately, the limit falls
 * to MIN_CONCURRENCY within seconds.
 */
import { PushError } from '../protocol/errors';

/** The right of one push to be in flight in this process, from its receipt to its answer. */
export interface Permit {
  /**
   * Gives the permit back; a second call has no effect.
   *
   * @param ok whether a worker settled the push. Other answers say nothing about the speed of writes
   */
  release(ok: boolean): void;
}

export interface LoadShedder {
  /** @throws PushError BACKLOG_FULL with the seconds after which a push may be let in */
  acquire(clientId: string): Permit;
}

export interface LoadShedderOptions {
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
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

/** One push in flight. */
interface InFlight {
  readonly since: number;
  readonly clientId: string;
}

export function createLoadShedder({ timeout, clock }: LoadShedderOptions): LoadShedder {
  // Half of the deadline for the wait: the other half is for what the estimate does not see.
  const maxWait = timeout / 2;
  // While the oldest push in flight is younger than this, pushes do not queue.
  const latencyFloor = timeout / 10;
  const inFlight = new Set<InFlight>();
  const byClient = new Map<string, number>();
  const answered = createRate(clock);

  const check = (clientId: string) => {
    const [oldest] = inFlight;
    if (!oldest || inFlight.size < MIN_CONCURRENCY) return;
    if (clock() - oldest.since < latencyFloor) return;
    answered.note(0, true);
    const rate = answered.perSecond();
    const limit = Math.max(MIN_CONCURRENCY, (rate * maxWait) / 1000);
    // A client below its fair share gets in beyond the limit: the crowd is another client's.
    const fairShare = limit / Math.max(1, byClient.size);
    const isBelowShare = (byClient.get(clientId) ?? 0) < fairShare;
    // The age of the oldest push decides nothing more: one partition may stand still while the others do not.
    if (inFlight.size < (isBelowShare ? FAIR_SHARE_FACTOR : 1) * limit) return;
    const over = Math.ceil((inFlight.size - limit) / Math.max(rate, 1));
    const retryAfter = Math.min(Math.max(over, 1), Math.ceil(maxWait / 1000));
    throw new PushError('BACKLOG_FULL', { retryAfter });
  };

  return {
    acquire: (clientId) => {
      check(clientId);
      const push = { since: clock(), clientId };
      answered.note(0, inFlight.size > 0);
      inFlight.add(push);
      byClient.set(clientId, (byClient.get(clientId) ?? 0) + 1);
      const release = (ok: boolean) => {
        if (!inFlight.delete(push)) return;
        answered.note(ok ? 1 : 0, true);
        const left = (byClient.get(clientId) ?? 1) - 1;
        if (left > 0) byClient.set(clientId, left);
        else byClient.delete(clientId);
      };
      return { release };
    },
  };
}

/** Answers per second of the time in which something waited, over the last seconds. */
function createRate(clock: () => number) {
  const buckets = new Map<number, { answers: number; busy: number }>();
  let last = clock();
  const current = (now: number) => {
    const number = Math.floor(now / BUCKET);
    for (const old of buckets.keys()) {
      if (old > number - MEMORY / BUCKET) break;
      buckets.delete(old);
    }
    const bucket = buckets.get(number) ?? { answers: 0, busy: 0 };
    buckets.set(number, bucket);
    return bucket;
  };
  return {
    /** To be called at every change. Time in which nothing waited says nothing about the speed. */
    note: (answers: number, wasBusy: boolean) => {
      const now = clock();
      // A long silence belongs to all of the time that it took, and is forgotten like it.
      for (last = Math.max(last, now - MEMORY); wasBusy && last < now; ) {
        const end = Math.min(now, (Math.floor(last / BUCKET) + 1) * BUCKET);
        current(last).busy += end - last;
        last = end;
      }
      last = now;
      current(now).answers += answers;
    },
    perSecond: () => {
      let answers = 0;
      let busy = 0;
      for (const bucket of buckets.values()) {
        answers += bucket.answers;
        busy += bucket.busy;
      }
      return (answers * 1000) / Math.max(busy, BUCKET);
    },
  };
}
