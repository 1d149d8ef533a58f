/** Which local day an instant lies in, for very many instants. */
import { dayAt, type LocalDay } from '../protocol/time';

const UTC_DAY = 86_400_000;

/**
 * Time zone arithmetic costs microseconds, and a digest asks for each matter. So each local day is
 * worked out once; a UTC day touches two or three of them.
 *
 * @returns a function from epoch milliseconds to yyyy-MM-dd
 */
export function createDayCalendar(timeZone: string): (instant: number) => string {
  const known = new Map<number, LocalDay[]>();
  return (instant) => {
    const key = Math.floor(instant / UTC_DAY);
    const days = known.get(key) ?? [];
    const found = days.find(({ start, end }) => start <= instant && instant < end);
    if (found) return found.date;
    const day = dayAt(instant, timeZone);
    days.push(day);
    known.set(key, days);
    return day.date;
  };
}
