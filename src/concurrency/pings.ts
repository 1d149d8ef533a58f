/** Pings a server again and again: since when it answers this process, and since when it does not. */
import { type PollLoop, startPollLoop } from './poll-loop';

export interface PingState {
  /** Pings in a row that were not answered in time. */
  readonly failures: number;
  /** When the first of these pings began, by `performance.now()`; undefined if the last ping was answered. */
  readonly failingSince: number | undefined;
  /** When the first of the pings in a row that were answered was answered; undefined if the last one was not. */
  readonly answeredSince: number | undefined;
  /** When the last ping began. */
  readonly lastBegan: number;
  /** Why the last ping failed. */
  readonly error: string;
}

export interface Pings extends PollLoop {
  /** The server has answered something else: a ping under way that gets no answer does not count. */
  noteAnswer(): void;
}

export interface PingOptions {
  readonly ping: () => Promise<unknown>;
  /** Milliseconds in which a ping must be answered, without the time in which this process stood still. */
  readonly timeout: number;
  /** Milliseconds between two pings, lengthened by up to half at random. */
  readonly interval: number;
  /** Called after each ping; the next one waits for it. */
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
  /** A slow server answers a ping after its deadline: the failures until then do not count. */
  const noteLate = () => {
    answeredAt = performance.now();
    state = { ...state, failures: 0, failingSince: undefined };
  };
  const pingOnce = async () => {
    const began = performance.now();
    const call = ping();
    try {
      await withTicks(call, timeout);
      state = succeed(began);
    } catch (error) {
      state = answeredAt >= began ? succeed(began) : fail(began, error);
      // A ping that fails later has been counted at its deadline.
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

/** Parts of a deadline. A process that stood still for all of it has used up one of them. */
const TICKS = 10;

/** A deadline that runs only while this process runs: what arrived while it stood still is read first. */
function withTicks<T>(call: Promise<T>, timeout: number): Promise<T> {
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
