/** Delays all calls while the service requires a pause. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Factors of the rate: after a pause, the rate is lower than before. Then it rises by the second factor each second.
 */
const SLOWER = 0.6;
const FASTER = 1.08;
const LEAST_PER_SECOND = 1;
/** Minimum milliseconds over which the rate is measured. */
const SHORTEST_SPELL = 50;

export interface Gate {
  /** Called when the service rejects for its rate limit. No call passes in the next `wait` milliseconds. */
  pause(wait: number): void;
  /** Resolves when the call may be sent. @throws AbortError if the signal is aborted before */
  pass(signal: AbortSignal): Promise<void>;
}

/**
 * Creates a gate that does not delay calls before the first pause. Afterwards it spaces the calls evenly, at a rate
 * that it learns from the pauses. Otherwise each pause would end in a burst that causes the next pause.
 *
 * @param clock returns milliseconds; it must be monotonic
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
      // Rejections of concurrent calls have the same cause, so only the first one changes the rate.
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
      // A pause invalidates the turns that were assigned before it, so the call gets another turn.
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
