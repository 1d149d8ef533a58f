/** The time that a report covers, the time before it, and how `push-logs/stats` counts both to the minute. */
import { DateTime } from 'luxon';
import { hourAt, type LocalDay } from '../../../src/protocol/local-day';
import { usageFailure } from '../failure';
import { momentIn } from '../option-values';

/** Epoch milliseconds; `to` is exclusive. */
export interface ReportWindow {
  readonly from: number;
  readonly to: number;
}

/** A value that depends on the time zone of the service, which is known after the first query. */
export type InZone<T> = (timeZone: string) => T;

/** The times that a command line names. */
export interface AskedTimes {
  /** Epoch milliseconds. */
  readonly since?: InZone<number>;
  readonly to?: InZone<number>;
  readonly on?: InZone<LocalDay>;
}

const HOUR = 3_600_000;
/** The service counts at most 31 days by hour. */
const MAX_DAYS = 31;

/**
 * The window of a report.
 *
 * @throws CommandFailure with exit code 2 if options exclude each other, or if the window is empty or too long
 */
export function windowIn(timeZone: string, { since, to, on }: AskedTimes): ReportWindow {
  // The end is read before the begin: otherwise 24 hours before now would be a millisecond longer than a day.
  const end = to?.(timeZone) ?? Date.now();
  if (!on) {
    const begin = since?.(timeZone) ?? momentIn(() => timeZone)('yesterday');
    return checkWindow({ from: begin, to: end });
  }
  if (since || to) throw usageFailure('--on is a whole day: leave --since and --to out');
  const day = on(timeZone);
  return checkWindow({ from: day.start, to: Math.min(day.end, end) });
}

/** @throws CommandFailure with exit code 2 if the window is empty or too long */
export function checkWindow(window: ReportWindow): ReportWindow {
  const { from, to } = window;
  if (from >= to) throw usageFailure('the report covers no time: it must begin before it ends');
  if (to - from <= MAX_DAYS * 24 * HOUR) return window;
  throw usageFailure(`a report covers at most ${MAX_DAYS} days`);
}

/**
 * The window that a report compares with: equally long, and as many whole days earlier as make it end before the
 * other one begins. So the hours of a day are compared with the same hours.
 */
export function windowBefore({ from, to }: ReportWindow, timeZone: string): ReportWindow {
  const [start, end] = [from, to].map((at) => DateTime.fromMillis(at, { zone: timeZone })) as [
    DateTime,
    DateTime,
  ];
  const days = Math.max(1, Math.ceil(end.diff(start, 'days').days));
  return { from: start.minus({ days }).toMillis(), to: end.minus({ days }).toMillis() };
}

export interface CountedPart extends ReportWindow {
  readonly by: 'hour' | 'minute';
}

/** The service extends a window to whole hours or minutes, so only whole hours of this window are counted by hour. */
export function countedParts({ from, to }: ReportWindow, timeZone: string): CountedPart[] {
  const begin = hourAt(from + HOUR - 1, timeZone);
  const end = hourAt(to, timeZone);
  if (begin >= end) return [{ from, to, by: 'minute' }];
  const parts: CountedPart[] = [
    { from, to: begin, by: 'minute' },
    { from: begin, to: end, by: 'hour' },
    { from: end, to, by: 'minute' },
  ];
  return parts.filter((part) => part.from < part.to);
}
