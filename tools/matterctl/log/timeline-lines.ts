/** Draws a timeline: one line a step, its share of the time as a bar. */
import { localTime } from './local-time';
import type { Step, Timeline } from './timeline';

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
