import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. */
const LOOK_EVERY = 100;
const PATIENCE = 120_000;

/** @throws Error with the awaited condition and the last failure, after two minutes */
export async function untilTrue(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE;
  let failure: unknown;
  for (;;) {
    const is = await isTrue().catch((error) => {
      failure = error;
      return false;
    });
    if (is) return;
    if (performance.now() > end) throw new Error(`waited too long for ${what}`, { cause: failure });
    await sleep(LOOK_EVERY);
  }
}
