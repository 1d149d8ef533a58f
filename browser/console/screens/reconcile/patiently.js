/** A question of many: one that may be answered later does not end a comparison of a hundred thousand matters. */
import { AskError } from '../../read/ask.js';

const TRIES = 5;

/**
 * @template T
 * @param {() => Promise<T>} question
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 * @throws {AskError} where it cannot be answered, or not for half a minute
 */
export async function patiently(question, signal) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await question();
    } catch (error) {
      const isNo = error instanceof AskError && error.envelope && !error.envelope.retryable;
      if (!(error instanceof AskError) || isNo || tries === TRIES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tries));
    signal?.throwIfAborted();
  }
}
