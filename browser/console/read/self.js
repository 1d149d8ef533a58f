/** The settings of the signed-in client, whether the service is ready, and the time; all are read again at an interval. */

import { signal } from '@preact/signals';
import { ask, clockOff, isReady } from './ask.js';
import { session } from './session.js';

/** @typedef {import('./shapes').Self} Self */

/** Milliseconds between two reads. */
const INTERVAL = 20_000;

/** @type {import('@preact/signals').Signal<Self | undefined>} */
export const self = signal(undefined);
/** @type {import('@preact/signals').Signal<unknown>} Why it is not known. */
export const selfError = signal(undefined);
/** The time to which texts such as “5 min ago” refer, epoch milliseconds. */
export const now = signal(Date.now());
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
  now.value = Date.now() + clockOff.peek();
  // Another client may have signed in meanwhile.
  if (session.peek() !== asker) return;
  if ('error' in found) {
    // The last known settings stay: the light of the frame shows that the service does not answer.
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

/** False for a query key whose answers omit titles, contents, payloads and stored bodies. */
export const seesBodies = () => self.value?.signedWith.bodies !== false;
