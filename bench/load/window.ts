/** When a round ends, and which part of it counts. */

export type Until = TimedUntil | { readonly pushes: number };

interface TimedUntil {
  /**
   * Milliseconds before what happens counts. It takes longer where some connection has not had its
   * first answer by then: until that, a slow service would seem slower than it is.
   */
  readonly warmUp: number;
  /** Milliseconds that count. */
  readonly duration: number;
}

/** All times are of one monotonic clock, milliseconds. */
export interface Window {
  /** To be asked before each push: whether it is to be sent. */
  isOpen(now: number): boolean;
  /** To be told of each answer; `isFirst`: of its connection. */
  answered(now: number, isFirst: boolean): void;
  counts(time: number): boolean;
  /** How long was counted. */
  elapsed(): number;
}

/** Milliseconds that the first answers may take beyond the warm-up. */
const MOST_WARM_UP = 20_000;

/** @param now when the round starts */
export function openWindow(until: Until, connections: number, now: number): Window {
  return 'pushes' in until ? untilPushes(until.pushes, now) : byTheClock(until, connections, now);
}

function byTheClock({ warmUp, duration }: TimedUntil, connections: number, now: number): Window {
  const warm = now + warmUp;
  let [from, to] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let answeredOnce = 0;
  return {
    isOpen: (time) => time < to,
    answered: (time, isFirst) => {
      if (isFirst) answeredOnce += 1;
      const isReady = answeredOnce === connections || time > warm + MOST_WARM_UP;
      if (from < time || time < warm || !isReady) return;
      [from, to] = [time, time + duration];
    },
    counts: (time) => time >= from && time < to,
    elapsed: () => duration,
  };
}

function untilPushes(pushes: number, from: number): Window {
  let begun = 0;
  let last = from;
  return {
    isOpen: () => {
      begun += 1;
      return begun <= pushes;
    },
    answered: (time) => {
      last = time;
    },
    counts: () => true,
    elapsed: () => last - from,
  };
}
