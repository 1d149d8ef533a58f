/** The way of one push in steps: when it was where, for how long, and a line a step with its time as a bar. */

import type { EntryView } from '../../../src/protocol/log-entry';
import { localTime } from '../local-time';

/** Characters for the whole way. */
const WIDTH = 40;

/** @returns lines of name, local time, milliseconds since the step before, and the bar */
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
  const isWorthTelling = total !== undefined && steps.length > 2;
  return isWorthTelling ? [...lines, `${'total'.padEnd(34)}  ${millis(total)}`] : lines;
}

/** Where a share begins within the whole, and how long it is; what took time is seen. */
function drawBar(start: number, share: number): string {
  if (share === 0) return '';
  const left = Math.min(Math.round(start * WIDTH), WIDTH - 1);
  const length = Math.max(1, Math.round((start + share) * WIDTH) - left);
  return ' '.repeat(left) + '█'.repeat(length);
}

/** No bound: how far two clocks are apart shows only where it is more than the step took. */
const noteOf = ({ skew }: Step) => (skew > 0 ? `(clocks differ by ${skew} ms or more)` : '');
const duration = ({ took }: Step) => (took === undefined ? '' : millis(took));
const millis = (value: number) => `${value} ms`.padStart(10);

export interface Step {
  readonly name: string;
  /** Epoch milliseconds, by the clock that said so. */
  readonly at: number;
  /** Milliseconds since the step before, never negative; undefined for the first. */
  readonly took: number | undefined;
  /** By how much the step before is later, where two clocks differ; else 0. */
  readonly skew: number;
}

export interface Timeline {
  readonly steps: readonly Step[];
  /** Milliseconds from receipt to settlement; undefined: not settled. */
  readonly total: number | undefined;
}

export type Times = Pick<
  EntryView,
  'state' | 'receivedAt' | 'queuedAt' | 'startedAt' | 'settledAt'
>;

/**
 * Receipt and settlement are of the clocks of `web` and `worker`, queue and start of that of Redis.
 * A push that was rejected or replayed at once was never queued and has fewer steps.
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
