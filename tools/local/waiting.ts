import { setTimeout as sleep } from 'node:timers/promises';

/** Thrown where a wait was given up since the whole run is being stopped. */
export class Stopped extends Error {
  constructor() {
    super('stopped');
  }
}

/** Whether a promise settles in time; a rejection counts as settled. */
export async function withDeadline(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  const done = promise.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([done, late]);
  timer.abort();
  return inTime;
}

/**
 * Waits for all of them, then throws the first rejection, so that nothing is still starting while
 * the caller cleans up.
 */
export async function allSettledOrThrow<T>(promises: Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/**
 * The result of work that does not know of the signal, and that the end of this process ends.
 * @throws {Stopped} when the signal is aborted
 */
export function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Stopped());
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** What a wait for readiness looks at. */
export interface Readiness {
  /** Resolves to true once it serves; false or a rejection means "not yet". */
  probe(): Promise<boolean>;
  /** Resolves, with how, when the process ends: then there is nothing to wait for. */
  exited: Promise<string>;
  deadlineMs: number;
  signal?: AbortSignal;
  /** Told now and then how many seconds it has waited so far. */
  tell?(seconds: number): void;
}

/** Milliseconds between two words to whoever waits. */
const HEARTBEAT_MS = 5_000;

/**
 * Waits until a probe says yes.
 * @returns undefined when ready, else why it is not
 * @throws {Stopped} when the signal is aborted
 */
export async function untilReady(readiness: Readiness): Promise<string | undefined> {
  const { probe, exited, deadlineMs, signal, tell } = readiness;
  const since = Date.now();
  const until = since + deadlineMs;
  let told = since;
  let ended: string | undefined;
  void exited.then((how) => {
    ended = how;
  });
  while (Date.now() < until) {
    if (signal?.aborted) throw new Stopped();
    if (await probe().catch(() => false)) return undefined;
    if (ended !== undefined) return `it ended with ${ended}`;
    if (Date.now() - told >= HEARTBEAT_MS) {
      told = Date.now();
      tell?.(Math.round((told - since) / 1000));
    }
    await sleep(30);
  }
  return `it did not answer within ${deadlineMs / 1000} s`;
}

/** SIGKILL to a whole session, if any of it is left. */
export function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
