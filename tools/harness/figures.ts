/** Percentiles, rates and counts of times and answers. Pure. */
import type { LoadAnswer } from './load-sender';

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

/** @param times milliseconds. @returns zeros without times */
export function summarizeFigures(times: readonly number[]): Percentiles {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)];
  return { p50: at(0.5) ?? 0, p99: at(0.99) ?? 0 };
}

export interface Latency extends Percentiles {
  readonly count: number;
  /** Milliseconds. */
  readonly max: number;
}

type Span = readonly [from: number, to: number];

/**
 * Workers process batches, so answers arrive in bursts. The rate is counted from the first answer in the span to the
 * first one after it, so that a burst at its edge makes no difference.
 *
 * @returns answers of code 0 per second
 */
export function goodput(answers: readonly LoadAnswer[], [from, to]: Span): number {
  const ends = ofKind(answers, '0').map(({ endedAt }) => endedAt);
  const firstSince = (time: number) =>
    ends.reduce((first, end) => (end >= time && end < first ? end : first), Infinity);
  const start = firstSince(from);
  const end = Math.min(firstSince(to), Math.max(start, to) + (to - from));
  const counted = ends.filter((time) => time >= start && time < end);
  return start < to ? (counted.length * 1_000) / (end - start) : 0;
}

export function latencyOf(answers: readonly LoadAnswer[]): Latency {
  const times = answers.map(({ sentAt, endedAt }) => endedAt - sentAt);
  const max = times.reduce((longest, ms) => Math.max(longest, ms), 0);
  return { ...summarizeFigures(times), count: times.length, max };
}

export function ofKind(answers: readonly LoadAnswer[], kind: string): LoadAnswer[] {
  return answers.filter((answer) => answer.kind === kind);
}

/** @returns the counts by kind, without the expected kinds */
export function othersThan(
  answers: readonly LoadAnswer[],
  ...expected: readonly string[]
): Record<string, number> {
  const others = answers.filter(({ kind }) => !expected.includes(kind));
  return countBy(others, ({ kind }) => kind);
}

/** @returns the counts by name */
export function countBy<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const name = nameOf(item);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const NO_ANSWER = /^(lost .*|hung|not JSON)$/;

/** @returns the counts of pushes that got no answer of the service */
export function withoutAnswer(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([kind]) => NO_ANSWER.test(kind)));
}

/** @returns zero without numbers */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = 0, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return sorted.length % 2 === 1 ? low : (low + high) / 2;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** @returns MiB, not rounded */
export const mib = (bytes: number): number => bytes / 1024 / 1024;

export function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : sum(numbers) / numbers.length;
}

/**
 * Binary search: the first index below `length` for which `isPast` is true, or `length` if there is none. `isPast`
 * must be true for every later index too.
 */
export function firstWhere(length: number, isPast: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
