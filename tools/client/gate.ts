/** Holds up all calls while the service asks for a pause. */
import { setTimeout as sleep } from 'node:timers/promises';

/** After a pause: slower than what went before it, then faster again, by this much a second. */
const SLOWER = 0.6;
const FASTER = 1.08;
const LEAST_PER_SECOND = 1;
/** A shorter spell says nothing about a rate. */
const SHORTEST_SPELL = 50;

export interface Gate {
  /** The service is asked too much: nothing passes before `wait` milliseconds are over. */
  pause(wait: number): void;
  /** Resolves when it is this one's turn. @throws AbortError when stopped meanwhile */
  pass(signal: AbortSignal): Promise<void>;
}

/**
 * Open until the first pause; from then on it spreads what passes evenly, at a rate that it learns
 * from the pauses. Without it every pause would end in a burst that earns the next one.
 *
 * @param clock milliseconds; it must not jump, as the time of day may
 */
export function createGate(clock: () => number = () => performance.now()): Gate {
  let opensAt = clock();
  let passed = 0;
  let rate = Number.POSITIVE_INFINITY;
  let nextTurn = 0;
  let pauses = 0;

  const rateNow = (now: number) => rate * FASTER ** (Math.max(now - opensAt, 0) / 1_000);
  const waitForTurn = () => {
    const now = clock();
    const turn = Math.max(now, opensAt, nextTurn);
    nextTurn = turn + 1_000 / rateNow(now);
    return turn - now;
  };
  return {
    pause: (wait) => {
      const now = clock();
      // Of those that were under way together, the first tells it all.
      if (now >= opensAt) {
        const measured = (passed * 1_000) / Math.max(now - opensAt, SHORTEST_SPELL);
        rate = Math.max(SLOWER * Math.min(rateNow(now), measured), LEAST_PER_SECOND);
        passed = 0;
        nextTurn = 0;
        pauses += 1;
      }
      opensAt = Math.max(opensAt, now + wait);
    },
    pass: async (signal) => {
      // A turn that was given out before a pause is void: those after it are given out anew.
      let givenOut: number;
      do {
        givenOut = pauses;
        const wait = waitForTurn();
        if (wait > 0) await sleep(wait, undefined, { signal });
      } while (givenOut !== pauses || clock() < opensAt);
      passed += 1;
    },
  };
}
