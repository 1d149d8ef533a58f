/** The timeline of one push: a line for each step, with its time, its duration, and a bar for the duration. */

import type { EntryView } from '../../../src/protocol/log-entry';
import { localTime } from '../local-time';

/** Width of all bars together, in characters. */
const WIDTH = 40;

/** @returns a line for each step: name, local time, milliseconds since the previous step, and bar */
export function timelineLines({ steps, total }: Timeline, timeZone: string): string[] {
  const whole = steps.reduce((sum, { took = 0 }) => sum + took, 0);
  let before = 0;
  const lines = steps.map((step) => {
    const { name, at, took = 0 } = step;
    const bar = whole === 0 ? '' : drawBar(before / whole, took / whole);
    before += took;
    const parts = [name.padEnd(9), localTime(at, timeZone), duration(step), bar, noteOf(step)];
    return parts.join('  ').trimEnd();
  });
  const hasTotal = total !== undefined && steps.length > 2;
  return hasTotal ? [...lines, `${'total'.padEnd(34)}  ${millis(total)}`] : lines;
}

/**
 * @param start start of the step as a share of the total time
 * @param share its duration; above 0, the bar is visible
 */
function drawBar(start: number, share: number): string {
  if (share === 0) return '';
  const left = Math.min(Math.round(start * WIDTH), WIDTH - 1);
  const length = Math.max(1, Math.round((start + share) * WIDTH) - left);
  return ' '.repeat(left) + '█'.repeat(length);
}

/** Only a minimum, because a difference of two clocks is visible only if it is larger than the duration of the step. */
const noteOf = ({ skew }: Step) => (skew > 0 ? `(clocks differ by ${skew} ms or more)` : '');
const duration = ({ took }: Step) => (took === undefined ? '' : millis(took));
const millis = (value: number) => `${value} ms`.padStart(10);

export interface Step {
  readonly name: string;
  /** Epoch milliseconds, by the clock of the process that recorded the step. */
  readonly at: number;
  /** Milliseconds since the previous step, never negative; undefined for the first step. */
  readonly took: number | undefined;
  /** Milliseconds by which the previous step is later than this one, because two clocks differ; otherwise 0. */
  readonly skew: number;
}

export interface Timeline {
  readonly steps: readonly Step[];
  /** Milliseconds from receipt to settlement; undefined if the push is not settled. */
  readonly total: number | undefined;
}

export type Times = Pick<
  EntryView,
  'state' | 'receivedAt' | 'queuedAt' | 'startedAt' | 'settledAt'
>;

/**
 * The times of receipt and settlement are from the clocks of `web` and the worker, the other two from the Redis clock.
 * A push that was never queued, because it was rejected or replayed at once, has fewer steps.
 */
export function timelineOf({ state, receivedAt, queuedAt, startedAt, settledAt }: Times): Timeline {
  const known: [name: string, at: string | null][] = [
    ['received', receivedAt],
    ['queued', queuedAt],
    ['started', startedAt],
    [state.toLowerCase(), settledAt],
  ];
  const steps: Step[] = [];
  for (const [name, instant] of known) {
    if (instant === null) continue;
    const at = Date.parse(instant);
    const gap = at - (steps.at(-1)?.at ?? at);
    const took = steps.length === 0 ? undefined : Math.max(0, gap);
    steps.push({ name, at, took, skew: Math.max(0, -gap) });
  }
  if (settledAt === null) return { steps, total: undefined };
  return { steps, total: Math.max(0, Date.parse(settledAt) - Date.parse(receivedAt)) };
}
