/** One call of the client: its deadline, and the signals that end it early. */
import { setMaxListeners } from 'node:events';
import { OWN, type Rejection } from './error';

export interface Call {
  /** Milliseconds on the clock of `performance.now`, because the time of day may jump. */
  readonly deadline: number;
  /** Aborted: the call starts no more tries. The reason of the signal is a `Rejection`. */
  readonly stopped: AbortSignal;
  /** Aborted: the running try is cancelled too. */
  readonly cut: AbortSignal;
  /** Starts no more tries. The running try may end. */
  stop(why: Rejection): void;
  /** Releases the timer and the listener on the caller's signal, after the call has ended. */
  end(): void;
}

/** Maximum milliseconds of a timer. Node runs a longer timer at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * @param timeout milliseconds; above LONGEST_TIMER there is no timer
 * @param signal the caller's signal, which aborts the call
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
    // Many calls may share one signal, so many listeners are no leak.
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
