/** Days and hours in a time zone. A day can have 23 or 25 hours, and some zones have offsets of half an hour. */
import { DateTime } from 'luxon';
import { DATE } from './time';

export interface LocalDay {
  /** Form yyyy-MM-dd. */
  readonly date: string;
  /** The first instant of the day, epoch milliseconds. */
  readonly start: number;
  /** The first instant of the next day, epoch milliseconds. */
  readonly end: number;
}

/** @returns undefined if the text is not a date yyyy-MM-dd, or if a change of the zone's offset skipped the date */
export function parseDay(text: string, timeZone: string): LocalDay | undefined {
  if (!DATE.test(text)) return undefined;
  const noon = DateTime.fromISO(`${text}T12:00`, { zone: timeZone });
  const day = noon.isValid ? dayAt(noon.toMillis(), timeZone) : undefined;
  return day?.date === text ? day : undefined;
}

/** The local day that contains an instant. */
export function dayAt(instant: number, timeZone: string): LocalDay {
  const moment = DateTime.fromMillis(instant, { zone: timeZone });
  const next = moment.startOf('day').plus({ days: 1 });
  return {
    date: moment.toISODate() ?? '',
    start: firstInstant(moment),
    end: firstInstant(next),
  };
}

/** Returns `hourAt` for a fixed time zone. */
export const hourIn = (timeZone: string) => (instant: number) => hourAt(instant, timeZone);

/** The start of the local hour that contains an instant, in epoch milliseconds. */
export function hourAt(instant: number, timeZone: string): number {
  return DateTime.fromMillis(instant, { zone: timeZone }).startOf('hour').toMillis();
}

/** The first instant of a day. If clocks change at midnight, midnight can occur twice or never. */
function firstInstant(moment: DateTime): number {
  const candidates = moment.startOf('day').getPossibleOffsets();
  return Math.min(...candidates.map((candidate) => candidate.toMillis()));
}
