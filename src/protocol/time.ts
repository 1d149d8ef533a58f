/**
 * Converts the time forms of contract 4.6 to epoch milliseconds and back. The console bundles this file, so this file
 * must run in a browser.
 */

const DIGITS = /^\d{1,15}$/;
/** A date such as 20261125 is rejected, because the digits could also be epoch seconds. */
const DATE_DIGITS = /^(\d{4})(\d{2})(\d{2})$/;
/** 14 digits are local time (yyyyMMddHHmmss). */
const LOCAL_DIGITS = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/;
export const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/;
/**
 * `Date.parse` reads texts of this form. Days 29 to 31 are excluded, because `Date.parse` converts 30 February to a
 * day in March.
 */
const USUAL_FORM =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
/** Smaller numbers are epoch seconds; other numbers are epoch milliseconds. */
const FIRST_MILLISECONDS = 100_000_000_000;
const LAST_INSTANT = Date.UTC(9999, 11, 31);
/** The start of the year 0. */
const FIRST_INSTANT = -62_167_219_200_000;
/** Earlier times are probably mistakes, such as the default value of a database. */
export const EARLIEST_LIKELY = Date.UTC(2000, 0, 1);

/**
 * JSON Schema of the accepted forms. JSON Schema has no calendar, so `instantText` and `instantNumber` exclude some
 * valid values of 8 and 14 digits.
 */
export const FORMS = {
  date: { pattern: DATE.source, format: 'date' },
  dateTime: { pattern: DATE_TIME.source },
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

/** @returns epoch milliseconds; undefined if `value` is not a valid time in a form of contract 4.6 */
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

export function isDateDigits(value: unknown): boolean {
  const [, year, month, day] = DATE_DIGITS.exec(String(value)) ?? [];
  return year !== undefined && isCalendarDate(Number(year), Number(month), Number(day));
}

function isCalendarDate(year: number, month: number, day: number): boolean {
  const date = new Date(utc(year, month, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** The local year of `deadlineAt` must be 1970 to 9999. */
export function isWritableInstant(instant: number, timeZone: string): boolean {
  const year = new Date(localAt(instant, timeZone)).getUTCFullYear();
  return year >= 1970 && year <= 9999;
}

/** A text without an offset is local time. @returns epoch milliseconds; undefined if `text` is not a valid time */
export function parseDateTime(text: string, timeZone: string): number | undefined {
  if (USUAL_FORM.test(text)) return Date.parse(text);
  const found = DATE_TIME.exec(text);
  if (!found) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((it) => Number(it ?? 0));
  const ms = Math.floor(Number(`0.${found[7] ?? 0}`) * 1000);
  // ISO-8601 allows hour 24 for midnight at the end of a day.
  const isMidnight = hour === 24 && minute === 0 && second === 0 && ms === 0;
  if ((hour > 23 && !isMidnight) || minute > 59 || second > 59) return undefined;
  if (!isCalendarDate(year, month, day)) return undefined;
  const local = utc(year, month, day, hour, minute, second) + ms;
  const offset = found[8];
  if (offset === undefined) return instantOf(local, timeZone);
  if (offset === 'Z') return local;
  const [hours, minutes] = [Number(offset.slice(1, 3)), Number(offset.slice(-2))];
  return local - (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** ISO-8601 local time without an offset, the form of `deadlineAt`. */
export const formatLocal = (instant: number, timeZone: string): string =>
  new Date(localAt(instant, timeZone)).toISOString().replace(/(\.000)?Z$/, '');

export function formatUnambiguous(instant: number, timeZone: string): string {
  const local = formatLocal(instant, timeZone);
  return parseDateTime(local, timeZone) === instant ? local : new Date(instant).toISOString();
}

/** If a local time occurs twice or never, the result is the same as in luxon. */
function instantOf(local: number, timeZone: string): number {
  const guessed = offsetAt(Date.now(), timeZone);
  const first = local - guessed;
  const second = offsetAt(first, timeZone);
  if (second === guessed) return first;
  const third = offsetAt(local - second, timeZone);
  return local - (second === third ? second : Math.min(second, third));
}

/** Adds the offset of the time zone. The UTC methods of `Date` then return the local date and time. */
export const localAt = (instant: number, timeZone: string): number =>
  instant + offsetAt(instant, timeZone);

const UTC_DAY = 86_400_000;
/** Maximum cached offsets of one zone. */
const MAX_DAYS = 40_000;

interface Zone {
  /** Writes month, day, year, era, hour, minute and second, in this order. */
  readonly format: Intl.DateTimeFormat;
  /** Key: days since 1970 in UTC. Value: offset in milliseconds, or null if the offset changes within the day. */
  readonly offsets: Map<number, number | null>;
}

const zones = new Map<string, Zone>();

function zoneOf(timeZone: string): Zone {
  const known = zones.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    era: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  const zone = { format, offsets: new Map() };
  zones.set(timeZone, zone);
  return zone;
}

/** Local time minus UTC, in milliseconds. */
function offsetAt(instant: number, timeZone: string): number {
  const { format, offsets } = zoneOf(timeZone);
  const day = Math.floor(instant / UTC_DAY);
  let offset = offsets.get(day);
  if (offset === undefined) {
    const first = exactOffset(day * UTC_DAY, format);
    offset = first === exactOffset((day + 1) * UTC_DAY, format) ? first : null;
    if (offsets.size >= MAX_DAYS) offsets.clear();
    offsets.set(day, offset);
  }
  return offset ?? exactOffset(instant, format);
}

function exactOffset(instant: number, format: Intl.DateTimeFormat): number {
  const numbers: number[] = [];
  let isBeforeChrist = false;
  for (const { type, value } of format.formatToParts(instant)) {
    if (type === 'era') isBeforeChrist = value === 'BC';
    else if (type !== 'literal') numbers.push(Number(value));
  }
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = numbers;
  const fraction = ((instant % 1000) + 1000) % 1000;
  return (
    utc(isBeforeChrist ? 1 - year : year, month, day, hour, minute, second) + fraction - instant
  );
}

/** `month` is 1 to 12; `clock` contains hour, minute and second. */
function utc(year: number, month: number, day: number, ...clock: number[]): number {
  const [hour = 0, minute = 0, second = 0] = clock;
  if (year >= 100) return Date.UTC(year, month - 1, day, hour, minute, second);
  // `Date.UTC` reads the years 0 to 99 as 1900 to 1999.
  return new Date(new Date(0).setUTCFullYear(year, month - 1, day)).setUTCHours(
    hour,
    minute,
    second,
  );
}

function fromEpoch(value: number): number | undefined {
  if (!Number.isSafeInteger(value) || value < 0) return undefined;
  const instant = value < FIRST_MILLISECONDS ? value * 1000 : value;
  return instant <= LAST_INSTANT ? instant : undefined;
}
