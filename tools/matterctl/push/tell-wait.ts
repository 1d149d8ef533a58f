/** Reports a run's waits, throttled, and no single retries. */
import type { Tool } from '../tool';

/** Milliseconds between two lines, whatever they say. */
const INTERVAL = 10_000;
/** Milliseconds until a cause is told again that slows the run down without stopping it. */
const SLOW_INTERVAL = 600_000;
/** Puts away a progress bar, which draws itself anew below. */
const CLEAR_LINE = '\r\u001b[K';

export interface WaitTeller {
  /** Nothing goes through. @param since, wait milliseconds that it lasts, and until the next try */
  standing(cause: string, since: number, wait: number): void;
  /** The run goes on more slowly. */
  slowed(cause: string): void;
}

/** @param clock milliseconds; it must not jump, as the time of day may */
export function createWaitTeller(
  { stderr }: Pick<Tool, 'stderr'>,
  clock: () => number = () => performance.now(),
): WaitTeller {
  let toldAt = Number.NEGATIVE_INFINITY;
  let slowedAt = Number.NEGATIVE_INFINITY;
  const tell = (line: string): boolean => {
    if (clock() - toldAt < INTERVAL) return false;
    toldAt = clock();
    stderr.write(`${stderr.isTTY ? CLEAR_LINE : ''}${line}\n`);
    return true;
  };
  return {
    standing: (cause, since, wait) => {
      const lasted = since < 1_000 ? '' : ` (for ${duration(since)})`;
      tell(`Waiting${lasted}: ${cause}. Trying again in ${duration(wait)}.`);
    },
    slowed: (cause) => {
      if (clock() - slowedAt < SLOW_INTERVAL) return;
      if (tell(`Slowed down: ${cause}.`)) slowedAt = clock();
    },
  };
}

/** Milliseconds in words: `40 s`, `12 min`, `3 h 5 min`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(Math.ceil(milliseconds / 1_000), 1);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
