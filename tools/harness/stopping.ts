/** How the pieces of a run are told to end. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Aborted as soon as one of them is. */
export function eitherSignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other ? AbortSignal.any([one, other]) : one;
}

/** Ends early, without an error, when the signal is aborted; at once where the time is over. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}
