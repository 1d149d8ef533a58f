/** A background loop that runs its work at an interval until it is stopped. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface PollLoop {
  /** Resolves when the run under way, if any, is over. */
  stop(): Promise<void>;
}

/**
 * Runs `work`, waits, runs it again; never twice at once. The jitter keeps many processes from
 * working in step.
 *
 * @param work told by the signal that it is to stop soon
 * @param interval milliseconds between runs, lengthened by up to half at random
 * @param onError told of a failed run; the next one follows all the same
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
      // Rejects only when stopped, and then the loop ends.
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
