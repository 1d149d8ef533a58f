/** Waiting for what other processes bring about. */
import { setTimeout as sleep } from 'node:timers/promises';

/** That of before any test: where a test lets the clock stand still, a wait ends all the same. */
const now = performance.now.bind(performance);

/**
 * @param what a function is asked when the time is over: it tells what was seen instead
 * @throws Error naming `what` where it does not come about within `timeout` ms
 */
export async function until<T>(
  what: string | (() => string),
  probe: () => Promise<T | undefined | false>,
  timeout = 120_000,
): Promise<T> {
  const end = now() + timeout;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (now() > end) {
      const missing = typeof what === 'string' ? what : what();
      throw new Error(`waited ${timeout} ms for ${missing}`);
    }
    await sleep(50);
  }
}
