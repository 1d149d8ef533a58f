/** The time that a report covers, the time before it, and how `push-logs/stats` counts both to the minute. */
import { DateTime } from 'luxon';
import { hourAt } from '../../../src/protocol/local-day';
import { CommandFailure, EXIT_USAGE } from '../failure';

/** Epoch milliseconds; `to` is exclusive. */
export interface ReportWindow {
  readonly from: number;
  readonly to: number;
}

const HOUR = 3_600_000;
/** The service counts at most 31 days by hour. */
const MAX_DAYS = 31;

/** @throws CommandFailure with exit code 2 if the window is empty or too long */
export function checkWindow(window: ReportWindow): ReportWindow {
  const { from, to } = window;
  if (from >= to) throw usage('the report covers no time: it must begin before it ends');
  if (to - from <= MAX_DAYS * 24 * HOUR) return window;
  throw usage(`a report covers at most ${MAX_DAYS} days`);
}

const usage = (message: string) => new CommandFailure(message, EXIT_USAGE);

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
