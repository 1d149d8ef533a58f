import { setTimeout as sleep } from 'node:timers/promises';

/** A wait has ended because the whole run is stopping. */
export class Stopped extends Error {
  constructor() {
    super('stopped');
  }
}

/** Whether a promise settles within `ms` milliseconds. A rejection counts as settled. */
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
 * Waits until all promises are settled, and then throws the first rejection. So no start is still running when the
 * caller cleans up.
 */
export async function allSettledOrThrow<T>(promises: Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/**
 * Waits for work that does not use the signal. After a stop, the work continues until this process ends.
 *
 * @throws Stopped when the signal is aborted
 */
export function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Stopped());
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** What `untilReady` needs. */
export interface Readiness {
  /** Resolves to true when the process is ready; false and a rejection mean "not yet". */
  probe(): Promise<boolean>;
  /** Resolves with the reason when the process has ended, so that waiting is useless. */
  exited: Promise<string>;
  deadlineMs: number;
  signal?: AbortSignal;
  /** Called from time to time with the seconds so far. */
  onWait?(seconds: number): void;
}

/** Milliseconds between two calls of `onWait`. */
const HEARTBEAT_MS = 5_000;

/**
 * Waits until a process is ready.
 *
 * @returns undefined if it is ready; otherwise why it is not
 * @throws Stopped when the signal is aborted
 */
export async function untilReady(readiness: Readiness): Promise<string | undefined> {
  const { probe, exited, deadlineMs, signal, onWait } = readiness;
  const since = Date.now();
  const until = since + deadlineMs;
  let reportedAt = since;
  let ended: string | undefined;
  void exited.then((how) => {
    ended = how;
  });
  while (Date.now() < until) {
    if (signal?.aborted) throw new Stopped();
    if (await probe().catch(() => false)) return undefined;
    if (ended !== undefined) return `it ended with ${ended}`;
    if (Date.now() - reportedAt >= HEARTBEAT_MS) {
      reportedAt = Date.now();
      onWait?.(Math.round((reportedAt - since) / 1000));
    }
    await sleep(30);
  }
  return `it did not answer within ${deadlineMs / 1000} s`;
}

/** Sends SIGKILL to all processes of a session. */
export function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All processes of the session have ended.
  }
}
