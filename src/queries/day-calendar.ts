/**
 * Converts instants to local days. The console (`browser/console`) bundles this file, so this file must run in a
 * browser.
 */
import { localAt } from '../protocol/time';

const DAY = 86_400_000;

/**
 * Formats each day once, because a digest can have millions of matters.
 *
 * @returns a function that converts epoch milliseconds to yyyy-MM-dd
 */
export function createDayCalendar(timeZone: string): (instant: number) => string {
  const dates = new Map<number, string>();
  return (instant) => {
    const day = Math.floor(localAt(instant, timeZone) / DAY);
    const known = dates.get(day);
    if (known !== undefined) return known;
    const date = new Date(day * DAY).toISOString().slice(0, 10);
    dates.set(day, date);
    return date;
  };
}
