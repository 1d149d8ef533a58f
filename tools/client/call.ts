/** One call of the client: how long it may take, and what ends it before it is answered. */
import { setMaxListeners } from 'node:events';
import { OWN, type Rejection } from './error';

export interface Call {
  /** Milliseconds of `performance.now`: the time of day may jump. */
  readonly deadline: number;
  /** Aborted: no try begins any more. Its reason is a `Rejection`. */
  readonly stopped: AbortSignal;
  /** Aborted: the try that is under way is not waited for either. */
  readonly cut: AbortSignal;
  /** No try begins any more; the one under way is waited for. */
  stop(why: Rejection): void;
  /** It was answered: lets go of its timer and its caller's signal. */
  end(): void;
}

/** Milliseconds: a timer of more would end at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * @param timeout milliseconds; from 25 days on, no deadline
 * @param signal of its caller
 */
export function createCall(timeout: number, signal: AbortSignal | undefined): Call {
  const stopped = new AbortController();
  const cut = new AbortController();
  const giveUp = (why: Rejection) => {
    stopped.abort(why);
    cut.abort();
  };
  const abort = () => giveUp(OWN.ABORTED);
  const isBounded = timeout <= LONGEST_TIMER;
  const timer = isBounded ? setTimeout(giveUp, timeout, OWN.TIMED_OUT) : undefined;
  if (signal?.aborted) abort();
  if (signal) {
    // One signal may be that of many calls.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', abort, { once: true });
  }
  return {
    deadline: performance.now() + timeout,
    stopped: stopped.signal,
    cut: cut.signal,
    stop: (why) => stopped.abort(why),
    end: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}
