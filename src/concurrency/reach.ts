/** Detects unreachable servers by pings. */
import { type PollLoop, startPollLoop } from './timing';

export interface PingState {
  /** Number of failed pings since the last answered ping. */
  readonly failures: number;
  /** Start of the first ping counted in `failures` (`performance.now()`); undefined if `failures` is 0. */
  readonly failingSince: number | undefined;
  /** All pings since this time succeeded (`performance.now()`); undefined if the last ping failed. */
  readonly answeredSince: number | undefined;
  /** Start of the last ping (`performance.now()`). */
  readonly lastBegan: number;
  /** Error of the last ping; empty if this ping succeeded. */
  readonly error: string;
}

export interface Pings extends PollLoop {
  /** Reports that the server answered an ordinary command. A running ping then counts as successful. */
  noteAnswer(): void;
}

export interface PingOptions {
  readonly ping: () => Promise<unknown>;
  /** Maximum milliseconds of a ping. */
  readonly timeout: number;
  /** Milliseconds between two pings, randomly extended by up to 50 %. */
  readonly interval: number;
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
  /** A late answer to a ping shows that the server is slow but reachable. */
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

const TICKS = 10;

/**
 * Counts timer ticks instead of milliseconds. A blocked event loop causes at most one tick, so the timeout hardly
 * advances meanwhile.
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
  isLost(): boolean;
  /** @throws an Error as soon as the server is lost */
  guard<T>(call: Promise<T>): Promise<T>;
}

export interface ReachOptions {
  readonly ping: () => Promise<unknown>;
  readonly onLost: (error: string) => void;
  readonly onBack: () => void;
  readonly whileLost?: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

const INTERVAL = 1_000;
const TIMEOUT = 1_000;
/**
 * A server is lost if at least two consecutive pings failed, and the first of them started at least this many
 * milliseconds ago.
 */
const LOST_AFTER = 5_000;

export function createReach(options: ReachOptions): Reach & PollLoop {
  const { ping, onLost, onBack, whileLost, onError } = options;
  let lost: Error | undefined;
  const pendingRejects = new Set<(error: Error) => void>();
  const judge = ({ failures, failingSince, error }: PingState) => {
    if (failingSince === undefined) {
      if (lost) onBack();
      lost = undefined;
    } else if (!lost && failures > 1 && performance.now() - failingSince >= LOST_AFTER) {
      const loss = new Error(`no ping succeeded for at least ${LOST_AFTER} ms: ${error}`);
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
