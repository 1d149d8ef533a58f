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
export interface LoadWindow {
  /** To be asked before each push: whether it is to be sent. */
  isOpen(now: number): boolean;
  /** To be told of each answer; `isFirst`: of its connection. */
  answered(now: number, isFirst: boolean): void;
  counts(time: number): boolean;
  /** How long was counted. */
  elapsed(): number;
}

/** Told when what counts begins, and when it ends. */
export type Turning = (turn: 'begin' | 'end') => void;

/** Milliseconds that the first answers may take beyond the warm-up. */
const MOST_WARM_UP = 20_000;

/** @param now when the round starts */
export function openWindow(
  until: Until,
  { connections, now, turning }: { connections: number; now: number; turning: Turning },
): LoadWindow {
  if ('pushes' in until) return untilPushes(until.pushes, now, turning);
  return byTheClock(until, connections, now, turning);
}

/**
 * Answers come in bursts, since pushes are done in batches. Counted from one answer to the first one
 * after the time, a burst that falls just inside or outside makes no difference.
 */
function byTheClock(
  { warmUp, duration }: TimedUntil,
  connections: number,
  now: number,
  turning: Turning,
): LoadWindow {
  const warm = now + warmUp;
  let [from, to] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let end: number | undefined;
  let answeredOnce = 0;
  return {
    isOpen: () => end === undefined,
    answered: (time, isFirst) => {
      if (isFirst) answeredOnce += 1;
      if (from <= time) {
        if (time < to || end !== undefined) return;
        end = time;
        turning('end');
        return;
      }
      const isReady = answeredOnce === connections || time > warm + MOST_WARM_UP;
      if (time < warm || !isReady) return;
      [from, to] = [time, time + duration];
      turning('begin');
    },
    counts: (time) => time >= from && time < (end ?? Number.POSITIVE_INFINITY),
    elapsed: () => (end ?? to) - from,
  };
}

function untilPushes(pushes: number, from: number, turning: Turning): LoadWindow {
  let begun = 0;
  let answered = 0;
  let last = from;
  turning('begin');
  return {
    isOpen: () => {
      begun += 1;
      return begun <= pushes;
    },
    answered: (time) => {
      last = time;
      answered += 1;
      if (answered === pushes) turning('end');
    },
    counts: () => true,
    elapsed: () => last - from,
  };
}
