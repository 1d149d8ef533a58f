/**
 * Detects whether a server answers. `startPings` pings a server at an interval, and records since when pings succeed or
 * fail. `watchReach` decides by these pings whether the server is lost, and rejects the pending calls of a lost server.
 */
import { type PollLoop, startPollLoop } from './timing';

export interface PingState {
  /** Number of pings that have failed since the server last answered a ping. */
  readonly failures: number;
  /** Start of the first of these failed pings, by `performance.now()`; undefined if `failures` is 0. */
  readonly failingSince: number | undefined;
  /** When a ping first succeeded after the last failure, by `performance.now()`; undefined if the last ping failed. */
  readonly answeredSince: number | undefined;
  /** Start of the last ping, by `performance.now()`. */
  readonly lastBegan: number;
  /** Error of the last ping; empty if this ping succeeded. */
  readonly error: string;
}

export interface Pings extends PollLoop {
  /**
   * Reports that the server has answered a command other than a ping. A ping that is running at this moment then counts
   * as answered, even if the ping fails.
   */
  noteAnswer(): void;
}

export interface PingOptions {
  readonly ping: () => Promise<unknown>;
  /** Time limit of a ping in milliseconds. The limit pauses while the event loop is blocked. */
  readonly timeout: number;
  /** Milliseconds between two pings, randomly extended by up to half. */
  readonly interval: number;
  /** Called after each ping. The next ping starts after `onPing` has ended. */
  readonly onPing: (state: PingState) => Promise<void> | void;
  readonly onError: (error: unknown) => void;
}

export function startPings({ ping, timeout, interval, onPing, onError }: PingOptions): Pings {
  let answeredAt = Number.NEGATIVE_INFINITY;
  let state: PingState = {
    failures: 0,
    failingSince: undefined,
    answeredSince: undefined,
    lastBegan: performance.now(),
    error: '',
  };
  const fail = (began: number, error: unknown): PingState => ({
    failures: state.failures + 1,
    failingSince: state.failingSince ?? began,
    answeredSince: undefined,
    lastBegan: began,
    error: String(error),
  });
  const succeed = (began: number): PingState => ({
    failures: 0,
    failingSince: undefined,
    answeredSince: state.answeredSince ?? performance.now(),
    lastBegan: began,
    error: '',
  });
  /** A late answer to a ping shows that the server is slow but reachable. So the late answer resets the failures. */
  const noteLate = () => {
    answeredAt = performance.now();
    state = { ...state, failures: 0, failingSince: undefined };
  };
  const pingOnce = async () => {
    const began = performance.now();
    const call = ping();
    try {
      await withPausingTimeout(call, timeout);
      state = succeed(began);
    } catch (error) {
      state = answeredAt >= began ? succeed(began) : fail(began, error);
      // The ping already has a result. An answer that arrives later resets the failures, and a later error is ignored.
      call.then(noteLate, () => undefined);
    }
    await onPing(state);
  };
  const loop = startPollLoop(pingOnce, interval, onError);
  return {
    noteAnswer: () => {
      answeredAt = performance.now();
    },
    stop: loop.stop,
  };
}

/** Timer ticks in one time limit. While the event loop is blocked, only one tick passes. */
const TICKS = 10;

/**
 * Gives a call a time limit that pauses while the event loop is blocked. An answer that arrives during this pause is
 * usually read before the limit ends.
 */
function withPausingTimeout<T>(call: Promise<T>, timeout: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
      if (ticks === TICKS) end(() => reject(new Error(`no answer within ${timeout} ms`)));
    }, timeout / TICKS);
    const end = (settle: () => void) => {
      clearInterval(timer);
      settle();
    };
    call.then(
      (result) => end(() => resolve(result)),
      (error) => end(() => reject(error)),
    );
  });
}

export interface Reach {
  /**
   * Whether the server is lost: the server answered no ping for LOST_AFTER milliseconds. Stays true until the server
   * answers a ping in time.
   */
  isLost(): boolean;
  /**
   * Makes a call fail as soon as the server is lost. Without `guard`, the call would hang until its own deadline.
   *
   * @returns the result of the call; a result after the loss is ignored
   * @throws the error of the call, or an Error if the server is lost
   */
  guard<T>(call: Promise<T>): Promise<T>;
}

export interface ReachOptions {
  /** A round trip to the server. */
  readonly ping: () => Promise<unknown>;
  readonly onLost: (error: string) => void;
  readonly onBack: () => void;
  /** Called after each ping while the server is lost. */
  readonly whileLost?: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Milliseconds between two pings, and the time limit of one ping. */
const INTERVAL = 1_000;
const TIMEOUT = 1_000;
/**
 * Milliseconds without an answered ping after which the server is lost. A restart of the server or an election of a
 * primary that takes less time is no loss.
 */
const LOST_AFTER = 5_000;

export function watchReach(options: ReachOptions): Reach & PollLoop {
  const { ping, onLost, onBack, whileLost, onError } = options;
  let lost: Error | undefined;
  /** Reject functions of the pending calls. */
  const pendingRejects = new Set<(error: Error) => void>();
  const judge = ({ failures, failingSince, error }: PingState) => {
    if (failingSince === undefined) {
      if (lost) onBack();
      lost = undefined;
    } else if (!lost && failures > 1 && performance.now() - failingSince >= LOST_AFTER) {
      const loss = new Error(`the server answered no ping for ${LOST_AFTER} ms: ${error}`);
      lost = loss;
      onLost(error);
      for (const end of pendingRejects) end(loss);
    }
  };
  const pings = startPings({
    ping,
    timeout: TIMEOUT,
    interval: INTERVAL,
    onPing: async (state) => {
      judge(state);
      if (lost) await whileLost?.();
    },
    onError,
  });
  return {
    isLost: () => lost !== undefined,
    guard: (call) =>
      new Promise((resolve, reject) => {
        if (lost) reject(lost);
        else pendingRejects.add(reject);
        const ended = () => pendingRejects.delete(reject);
        call.then(resolve, reject).then(ended, ended);
      }),
    stop: pings.stop,
  };
}
