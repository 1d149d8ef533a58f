/** Times on the wire (decisions, "sourceUpdatedAt formats"). Everything becomes epoch milliseconds. */
import { DateTime } from 'luxon';

const DIGITS = /^\d{1,15}$/;
/** A date alone. As epoch seconds it would be of 1970 to 1973. */
const DATE_DIGITS = /^(\d{4})(\d{2})(\d{2})$/;
/** yyyyMMddHHmmss. As epoch milliseconds it would be after the year 2286. */
const LOCAL_DIGITS = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME =
  /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/;
const PLAIN_UTC =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
/** Below it a number is taken as seconds (the year 5138), from it on as milliseconds (1973). */
const FIRST_MILLISECONDS = 100_000_000_000;
const LAST_INSTANT = Date.UTC(9999, 11, 31);
/** Before it ISO-8601 has a sign in front of the year, and the text could not be sent again. */
const FIRST_INSTANT = -62_167_219_200_000;
/** Before it a time of a matter is a mistake: the default of a database, or a number that is no timestamp. */
export const EARLIEST_LIKELY = Date.UTC(2000, 0, 1);

/** The forms that are read here, in words of JSON Schema. */
export const FORMS = {
  date: { pattern: DATE.source, format: 'date' },
  dateTime: { pattern: DATE_TIME.source },
  // Eight digits may be a date, which is rejected; fourteen are a date and time.
  instantText: {
    pattern: [
      String.raw`^(\d{1,7}|\d{9,13}|\d{15})$`,
      String.raw`^\d{4}(0[1-9]|1[0-2])(0[1-9]|1\d|2[0-8])([01]\d|2[0-3])[0-5]\d[0-5]\d$`,
      DATE_TIME.source,
    ].join('|'),
  },
  instantNumber: {
    type: 'integer',
    minimum: 0,
    maximum: LAST_INSTANT,
    not: {
      anyOf: [
        { minimum: 10_000_000, maximum: 99_999_999 },
        { minimum: 10_000_000_000_000, maximum: 99_999_999_999_999 },
      ],
    },
  },
} as const;

/**
 * Reads a `sourceUpdatedAt`: epoch seconds or milliseconds (number or digits), 14 digits yyyyMMddHHmmss,
 * ISO-8601 with offset, or local date-time in the portal's zone.
 *
 * @returns epoch milliseconds, or undefined where the value is none of these
 */
export function parseInstant(value: string | number, timeZone: string): number | undefined {
  const text = String(value);
  if (DIGITS.test(text)) {
    if (isDateDigits(value)) return undefined;
    const local = LOCAL_DIGITS.exec(text);
    if (!local) return fromEpoch(Number(value));
    const [, year, month, day, hour, minute, second] = local;
    return parseDateTime(`${year}-${month}-${day}T${hour}:${minute}:${second}`, timeZone);
  }
  if (typeof value === 'number') return undefined;
  const instant = parseDateTime(value, timeZone);
  return instant === undefined || instant < FIRST_INSTANT ? undefined : instant;
}

/** Whether it is a calendar date in eight digits: `20261125`. */
export function isDateDigits(value: unknown): boolean {
  const [, year, month, day] = DATE_DIGITS.exec(String(value)) ?? [];
  return year !== undefined && DateTime.fromISO(`${year}-${month}-${day}`).isValid;
}

/** Whether an instant can be written as local time with a year of 1970 to 9999, as `deadlineAt` is. */
export function isWritable(instant: number, timeZone: string): boolean {
  const { year } = DateTime.fromMillis(instant, { zone: timeZone });
  return year >= 1970 && year <= 9999;
}

/** Reads an ISO-8601 date-time, local in the portal's zone unless it carries an offset. */
export function parseDateTime(text: string, timeZone: string): number | undefined {
  // Most of what is pushed, on the way of every push. Days that not every month has are left to the
  // calendar below: the engine takes 30 February for 1 March.
  if (PLAIN_UTC.test(text)) return Date.parse(text);
  if (!DATE_TIME.test(text)) return undefined;
  const parsed = DateTime.fromISO(text.replace(' ', 'T'), { zone: timeZone });
  return parsed.isValid ? parsed.toMillis() : undefined;
}

/** Writes an instant as ISO-8601 local date-time of the portal's zone (the form of `deadlineAt`). */
export function formatLocal(instant: number, timeZone: string): string {
  const local = DateTime.fromMillis(instant, { zone: timeZone });
  return local.toISO({ includeOffset: false, suppressMilliseconds: true }) ?? '';
}

/** A local day: its date as yyyy-MM-dd, its first instant, and the first instant after it. */
export interface LocalDay {
  readonly date: string;
  /** Epoch milliseconds. */
  readonly start: number;
  readonly end: number;
}

/** @returns undefined where the text is no date as yyyy-MM-dd, or none that the zone had */
export function parseDay(text: string, timeZone: string): LocalDay | undefined {
  if (!DATE.test(text)) return undefined;
  const noon = DateTime.fromISO(`${text}T12:00`, { zone: timeZone });
  const day = noon.isValid ? dayAt(noon.toMillis(), timeZone) : undefined;
  return day?.date === text ? day : undefined;
}

/** The local day of an instant. Days are not always 24 hours long. */
export function dayAt(instant: number, timeZone: string): LocalDay {
  const moment = DateTime.fromMillis(instant, { zone: timeZone });
  const next = moment.startOf('day').plus({ days: 1 });
  return {
    date: moment.toISODate() ?? '',
    start: firstInstant(moment),
    end: firstInstant(next),
  };
}

/** Where the local hour of an instant begins; in some zones not with one of UTC. Epoch milliseconds. */
export function hourAt(instant: number, timeZone: string): number {
  return DateTime.fromMillis(instant, { zone: timeZone }).startOf('hour').toMillis();
}

/** Midnight may come twice, or not at all where the clock is put forward at midnight. */
function firstInstant(moment: DateTime): number {
  const candidates = moment.startOf('day').getPossibleOffsets();
  return Math.min(...candidates.map((candidate) => candidate.toMillis()));
}

function fromEpoch(value: number): number | undefined {
  if (!Number.isSafeInteger(value) || value < 0) return undefined;
  const instant = value < FIRST_MILLISECONDS ? value * 1000 : value;
  return instant <= LAST_INSTANT ? instant : undefined;
}
