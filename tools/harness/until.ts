import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. */
const LOOK_EVERY = 100;
const PATIENCE = 60_000;

/** @throws Error with the awaited condition and the last failure, after a minute */
export async function untilTrue(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE;
  let failure: unknown;
  for (;;) {
    const is = await isTrue().catch((error) => {
      failure = error;
      return false;
    });
    if (is) return;
    if (performance.now() > end) throw new Error(`waited a minute for ${what}`, { cause: failure });
    await sleep(LOOK_EVERY);
  }
}
