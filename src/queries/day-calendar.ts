/** Finds the local days of many instants fast. Pure. The console in `browser/console` imports this file too. */
import { localAt } from '../protocol/time';

const UTC_DAY = 86_400_000;

/**
 * A computation with a time zone takes microseconds, which is too slow for each matter of a digest. Therefore the
 * calendar computes the offset from UTC once for each UTC day. If the offset changes within a UTC day, the calendar
 * computes it for each instant of that day.
 *
 * @returns a function that converts epoch milliseconds to yyyy-MM-dd
 */
export function createDayCalendar(timeZone: string): (instant: number) => string {
  const offsets = new Map<number, number | undefined>();
  const dates = new Map<number, string>();
  const offsetAt = (instant: number) => localAt(instant, timeZone) - instant;
  const offsetIn = (utcDay: number) => {
    if (offsets.has(utcDay)) return offsets.get(utcDay);
    const offset = offsetAt(utcDay * UTC_DAY);
    const known = offset === offsetAt((utcDay + 1) * UTC_DAY) ? offset : undefined;
    offsets.set(utcDay, known);
    return known;
  };
  return (instant) => {
    const offset = offsetIn(Math.floor(instant / UTC_DAY)) ?? offsetAt(instant);
    const day = Math.floor((instant + offset) / UTC_DAY);
    const known = dates.get(day);
    if (known !== undefined) return known;
    const date = new Date(day * UTC_DAY).toISOString().slice(0, 10);
    dates.set(day, date);
    return date;
  };
}
