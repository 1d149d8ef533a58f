/** Days and hours in a time zone. All instants are epoch milliseconds. */
import { DateTime } from 'luxon';
import { DATE } from './time';

export interface LocalDay {
  /** Form yyyy-MM-dd. */
  readonly date: string;
  readonly start: number;
  /** The first instant of the next day. */
  readonly end: number;
}

/** @returns undefined if `text` does not have the form yyyy-MM-dd, or the date does not exist in the time zone */
export function parseDay(text: string, timeZone: string): LocalDay | undefined {
  if (!DATE.test(text)) return undefined;
  const noon = DateTime.fromISO(`${text}T12:00`, { zone: timeZone });
  const day = noon.isValid ? dayAt(noon.toMillis(), timeZone) : undefined;
  return day?.date === text ? day : undefined;
}

export function dayAt(instant: number, timeZone: string): LocalDay {
  const moment = DateTime.fromMillis(instant, { zone: timeZone });
  const next = moment.startOf('day').plus({ days: 1 });
  return {
    date: moment.toISODate() ?? '',
    start: firstInstant(moment),
    end: firstInstant(next),
  };
}

export const hourIn = (timeZone: string) => (instant: number) => hourAt(instant, timeZone);

export function hourAt(instant: number, timeZone: string): number {
  return DateTime.fromMillis(instant, { zone: timeZone }).startOf('hour').toMillis();
}

/** A day can have two midnights, because clocks can be set back. Returns the first midnight. */
function firstInstant(moment: DateTime): number {
  const candidates = moment.startOf('day').getPossibleOffsets();
  return Math.min(...candidates.map((candidate) => candidate.toMillis()));
}
