/** Helpers for the end of a run by a signal. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Aborts when one of the two aborts. */
export function eitherSignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other ? AbortSignal.any([one, other]) : one;
}

/** Waits, or returns early without an error when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}
