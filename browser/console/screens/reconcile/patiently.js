/** Repeats a request that may succeed later, so that one failure does not end a comparison of 100,000 matters. */
import { AskError } from '../../read/ask.js';

const TRIES = 5;

/**
 * @template T
 * @param {() => Promise<T>} question
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 * @throws {AskError} if the answer is final, or after five attempts in half a minute
 */
export async function patiently(question, signal) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await question();
    } catch (error) {
      const isNo = error instanceof AskError && error.envelope && !error.envelope.retryable;
      if (!(error instanceof AskError) || isNo || tries === TRIES) throw error;
    }
    await waitAfter(tries, signal);
  }
}

/** Waits before the next attempt: longer after each one. @param {number} tries @param {AbortSignal} [signal] */
export async function waitAfter(tries, signal) {
  await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tries));
  signal?.throwIfAborted();
}
