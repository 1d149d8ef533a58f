/** Time: the clock, the deadline of a call, and loops at an interval. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns epoch milliseconds. */
export type Clock = () => number;

export const systemClock: Clock = Date.now;

/** @param onFailure converts an error of `call` */
export function withTimeout<T>(
  call: Promise<T>,
  ms: number,
  onTimeout: () => Error = () => new Error(`no answer within ${ms} ms`),
  onFailure: (error: unknown) => unknown = (error) => error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), Math.max(0, ms));
    call.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(onFailure(error));
      },
    );
  });
}

export interface PollLoop {
  /** Resolves when the current run has ended. */
  stop(): Promise<void>;
}

/**
 * @param interval minimum milliseconds between two runs
 * @param onError called for each failed run; the loop continues
 */
export function startPollLoop(
  work: (stopping: AbortSignal) => Promise<unknown>,
  interval: number,
  onError: (error: unknown) => void,
): PollLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = () => sleep(interval * (1 + Math.random() / 2), undefined, { signal });
  const run = async () => {
    while (!signal.aborted) {
      await work(signal).catch(onError);
      // The pause rejects only when the loop is stopped.
      await pause().catch(() => undefined);
    }
  };
  const done = run();
  return {
    stop: () => {
      stopping.abort();
      return done;
    },
  };
}
