/**
 * Sheds load: a push that would wait too long behind others is rejected at once, before any work,
 * instead of being given up at its deadline after all of it. What waits is judged by this ingress'
 * own pushes: how many there are, and how many were settled lately. Where none is, the room shrinks
 * to a handful within seconds.
 */
import { PushError } from '../errors';

/** What this ingress holds between receipt and answer. */
export interface Backlog {
  /**
   * @returns what says that the push is answered, and whether a worker settled it: rejections are no
   *   measure of how fast writes go
   * @throws PushError BACKLOG_FULL with the seconds after which there may be room
   */
  enter(clientId: string): (isSettled: boolean) => void;
}

export interface BacklogOptions {
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  /** Monotonic, milliseconds. */
  readonly clock: () => number;
}

/**
 * Pushes that may wait whatever the rest says: a handful is no overload. Each ingress has them, so that
 * several together must not be too many for a slow database.
 */
const ALWAYS = 128;
/** Milliseconds over which the rate of answers is taken: longer than the pause after a dead worker. */
const MEMORY = 5_000;
const BUCKET = 500;

/** One push that waits. */
interface Waiting {
  readonly since: number;
  readonly clientId: string;
}

export function createBacklog({ timeout, clock }: BacklogOptions): Backlog {
  // Half of the deadline for the wait: the other half is for what the estimate does not see.
  const bound = timeout / 2;
  // A push that waits for less is on its usual way: there is no queue to speak of.
  const usual = timeout / 10;
  const waiting = new Set<Waiting>();
  const byClient = new Map<string, number>();
  const answered = createRate(clock);

  const check = (clientId: string) => {
    const [oldest] = waiting;
    if (!oldest || waiting.size < ALWAYS) return;
    if (clock() - oldest.since < usual) return;
    answered.note(0, true);
    const rate = answered.perSecond();
    const room = Math.max(ALWAYS, (rate * bound) / 1000);
    // Below its share of the room a client gets in: the others' crowd is not its fault.
    const share = room / Math.max(1, byClient.size);
    const slack = (byClient.get(clientId) ?? 0) < share ? 1.5 : 1;
    // The age of the oldest says no more: where one partition stands still, the others need not wait.
    if (waiting.size < slack * room) return;
    const over = Math.ceil((waiting.size - room) / Math.max(rate, 1));
    const retryAfter = Math.min(Math.max(over, 1), Math.ceil(bound / 1000));
    throw new PushError('BACKLOG_FULL', { retryAfter });
  };

  return {
    enter: (clientId) => {
      check(clientId);
      const push = { since: clock(), clientId };
      answered.note(0, waiting.size > 0);
      waiting.add(push);
      byClient.set(clientId, (byClient.get(clientId) ?? 0) + 1);
      return (isSettled) => {
        if (!waiting.has(push)) return;
        answered.note(isSettled ? 1 : 0, true);
        waiting.delete(push);
        const left = (byClient.get(clientId) ?? 1) - 1;
        if (left > 0) byClient.set(clientId, left);
        else byClient.delete(clientId);
      };
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
