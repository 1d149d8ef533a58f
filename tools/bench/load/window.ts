/** The measurement within a round: its start and its end. */

export type Until = TimedUntil | { readonly pushes: number };

interface TimedUntil {
  /**
   * Milliseconds before the measurement. If a connection then has no answer yet, the measurement starts later, by at
   * most MAX_FIRST_ANSWER_DELAY: otherwise a slow start would count.
   */
  readonly warmUp: number;
  /** Milliseconds of the measurement. */
  readonly duration: number;
}

/** All times are milliseconds of one monotonic clock. */
export interface LoadWindow {
  /** Call it before each push. @returns whether to send the push */
  isOpen(now: number): boolean;
  /** Call it for each answer. `isFirst`: the first answer of its connection */
  answered(now: number, isFirst: boolean): void;
  counts(time: number): boolean;
  /** @returns the duration of the measurement */
  elapsed(): number;
}

/** Called at the start and at the end of the measurement. */
export type BoundaryListener = (boundary: 'begin' | 'end') => void;

/** Milliseconds after the warm-up in which first answers may still delay the measurement. */
const MAX_FIRST_ANSWER_DELAY = 20_000;

/** @param now the start of the round */
export function openWindow(
  until: Until,
  {
    connections,
    now,
    onBoundary,
  }: { connections: number; now: number; onBoundary: BoundaryListener },
): LoadWindow {
  if ('pushes' in until) return countedWindow(until.pushes, now, onBoundary);
  return timedWindow(until, connections, now, onBoundary);
}

/**
 * Answers come in bursts, because the worker applies batches. The measurement therefore starts and ends with an
 * answer: otherwise a burst just before or after the end would change the rate.
 */
function timedWindow(
  { warmUp, duration }: TimedUntil,
  connections: number,
  now: number,
  onBoundary: BoundaryListener,
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
        onBoundary('end');
        return;
      }
      const isReady = answeredOnce === connections || time > warm + MAX_FIRST_ANSWER_DELAY;
      if (time < warm || !isReady) return;
      [from, to] = [time, time + duration];
      onBoundary('begin');
    },
    counts: (time) => time >= from && time < (end ?? Number.POSITIVE_INFINITY),
    elapsed: () => (end ?? to) - from,
  };
}

function countedWindow(pushes: number, from: number, onBoundary: BoundaryListener): LoadWindow {
  let sent = 0;
  let answered = 0;
  let last = from;
  onBoundary('begin');
  return {
    isOpen: () => {
      sent += 1;
      return sent <= pushes;
    },
    answered: (time) => {
      last = time;
      answered += 1;
      if (answered === pushes) onBoundary('end');
    },
    counts: () => true,
    elapsed: () => last - from,
  };
}
