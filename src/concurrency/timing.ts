/** Time: the clock, the deadline of a call, and loops at an interval. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns epoch milliseconds. Functions receive the clock as a parameter, so that tests can control the time. */
export type Clock = () => number;

export const systemClock: Clock = Date.now;

/**
 * Gives a call a deadline.
 *
 * @param ms milliseconds from now; below zero counts as zero
 * @param onTimeout makes the error of a missed deadline
 * @param onFailure converts the error of a `call` that fails before the deadline; by default the error is unchanged
 * @returns the result of `call` if it arrives before the deadline; a later result is ignored
 * @throws the error of `onTimeout` after `ms` milliseconds, or the error of `onFailure`
 */
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

/** A background loop that runs a task at an interval until it is stopped. */
export interface PollLoop {
  /** Stops the loop and resolves when the current run has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work`, waits for the interval, and repeats. The interval varies randomly, to spread the load of many processes.
 *
 * @param work receives a signal that aborts when the loop stops
 * @param interval milliseconds between runs, randomly extended by up to half
 * @param onError receives the error of a failed run; the loop continues
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
