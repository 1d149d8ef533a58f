/**
 * Sheds load: a push that would wait too long behind others is refused at once, before any work,
 * instead of being given up at its deadline after all of it. What waits is judged by this ingress'
 * own pushes: how many there are, how old the oldest is, and how many were answered lately.
 */
import { PushError } from '../errors';

/** What this ingress holds between receipt and answer. */
export interface Backlog {
  /**
   * @returns what says that the push is answered
   * @throws PushError BACKLOG_FULL with the seconds after which there may be room
   */
  enter(clientId: string): () => void;
}

export interface BacklogOptions {
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  /** Monotonic, milliseconds. */
  readonly clock: () => number;
}

/** Pushes that may wait whatever the rest says: a handful is no overload. */
const ALWAYS = 256;
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
    const age = clock() - oldest.since;
    if (age < usual) return;
    answered.note(0, true);
    const rate = answered.perSecond();
    const room = Math.max(ALWAYS, (rate * bound) / 1000);
    // Below its share of the room a client gets in: the others' crowd is not its fault.
    const share = room / Math.max(1, byClient.size);
    const slack = (byClient.get(clientId) ?? 0) < share ? 1.5 : 1;
    if (age < slack * bound && waiting.size < slack * room) return;
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
      return () => {
        answered.note(1, true);
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
      const bucket = current(now);
      bucket.answers += answers;
      if (wasBusy) bucket.busy += now - last;
      last = now;
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
