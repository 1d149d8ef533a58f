/** Instants as operators read them. */
import { DateTime } from 'luxon';

/** @param at epoch milliseconds, or ISO-8601. @returns `2026-05-01 08:00:00.123`, in the zone */
export function localTime(at: number | string, timeZone: string): string {
  const instant = typeof at === 'string' ? Date.parse(at) : at;
  return DateTime.fromMillis(instant, { zone: timeZone }).toFormat('yyyy-MM-dd HH:mm:ss.SSS');
}

/** The same without a fraction that is zero: for instants that people have given. */
export function shortTime(at: number | string, timeZone: string): string {
  return localTime(at, timeZone).replace(/\.000$/, '');
}

/** A time that stands alone in a sentence. @returns `2026-05-01 08:00:00 (Asia/Shanghai)` */
export const zonedTime = (at: number | string, timeZone: string): string =>
  `${shortTime(at, timeZone)} (${timeZone})`;

/** The title of a column of times: it names their zone. */
export const timeHead = (title: string, timeZone: string) => `${title} (${timeZone})`;
