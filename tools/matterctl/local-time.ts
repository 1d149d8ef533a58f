/** Formats instants for operators, in the time zone of the portal. */
import { DateTime } from 'luxon';

/** @param at epoch milliseconds, or ISO-8601. @returns `2026-05-01 08:00:00.123`, in the time zone */
export function localTime(at: number | string, timeZone: string): string {
  const instant = typeof at === 'string' ? Date.parse(at) : at;
  return DateTime.fromMillis(instant, { zone: timeZone }).toFormat('yyyy-MM-dd HH:mm:ss.SSS');
}

/** Like `localTime`, without `.000`: for instants that people have written. */
export function shortTime(at: number | string, timeZone: string): string {
  return localTime(at, timeZone).replace(/\.000$/, '');
}

/** A time with its zone, for a sentence. @returns `2026-05-01 08:00:00 (Asia/Shanghai)` */
export const zonedTime = (at: number | string, timeZone: string): string =>
  `${shortTime(at, timeZone)} (${timeZone})`;

/** The title of a column of times, with their zone. */
export const timeHead = (title: string, timeZone: string) => `${title} (${timeZone})`;
