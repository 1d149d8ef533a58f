/** Asks for what there is to see, every few seconds while somebody looks at the page. */
import { signal } from '@preact/signals';

/** @typedef {import('./shapes').OperatorStatus} OperatorStatus */

const EVERY = 3_000;
const TIMEOUT = 12_000;

/** The last answer; it stays when a later one fails. @type {import('@preact/signals').Signal<OperatorStatus | undefined>} */
export const status = signal(undefined);
/** Why the last look failed; undefined: it did not. @type {import('@preact/signals').Signal<string | undefined>} */
export const failure = signal(undefined);

/** @type {ReturnType<typeof setTimeout> | undefined} */
let next;

export async function lookNow() {
  clearTimeout(next);
  try {
    const answer = await fetch('status', { signal: AbortSignal.timeout(TIMEOUT) });
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    status.value = await answer.json();
    failure.value = undefined;
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error);
  }
  clearTimeout(next);
  if (!document.hidden) next = setTimeout(lookNow, EVERY);
}

/** From now on; a tab in the background asks for nothing. */
export function keepLooking() {
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void lookNow();
  });
  void lookNow();
}
