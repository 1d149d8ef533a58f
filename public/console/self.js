/** What holds for the client that asks, and whether the service is ready; looked at again and again. */
import { ask, isReady } from './ask.js';
import { signal } from './lib/signals.js';
import { session } from './session.js';

/** @typedef {import('./shapes').Self} Self */

/** Milliseconds between two looks. */
const INTERVAL = 20_000;

/** @type {import('./lib/signals.js').Signal<Self | undefined>} */
export const self = signal(undefined);
/** @type {import('./lib/signals.js').Signal<unknown>} Why it is not known. */
export const selfError = signal(undefined);
/** `undefined`: the service does not answer. */
export const ready = signal(/** @type {boolean | undefined} */ (true));

export async function lookAgain() {
  const asker = session.peek();
  if (!asker) return;
  const [found, isUp] = await Promise.all([
    ask('clients/me', {}).catch((error) => ({ error })),
    isReady(),
  ]);
  ready.value = isUp;
  // Somebody else may be here by now.
  if (session.peek() !== asker) return;
  if ('error' in found) {
    // What was known a moment ago goes on: the light tells that nobody answers.
    selfError.value = found.error;
    return;
  }
  selfError.value = undefined;
  self.value = found;
}

/** While the page is looked at. @returns {() => void} ends it */
export function keepLooking() {
  void lookAgain();
  const timer = setInterval(() => {
    if (!document.hidden) void lookAgain();
  }, INTERVAL);
  return () => {
    clearInterval(timer);
    self.value = undefined;
    selfError.value = undefined;
  };
}

export const mayPush = () => self.value?.signedWith.scopes.includes('push') === true;

/** Of one batch. */
export const batchLimits = () => self.peek()?.limits ?? { batchLines: 1, batchBytes: 0 };
