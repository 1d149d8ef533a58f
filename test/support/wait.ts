/** Waiting for what other processes bring about. */
import { setTimeout as sleep } from 'node:timers/promises';

/** @throws Error naming `what` where it does not come about within `timeout` ms */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  timeout = 120_000,
): Promise<T> {
  const end = Date.now() + timeout;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${timeout} ms for ${what}`);
    await sleep(50);
  }
}
