/** Times as the service reads and writes them (src/protocol/time.ts), without its calendar library. Pure. */

const DIGITS = /^\d{1,15}$/;
const DATE_DIGITS = /^\d{8}$/;
const LOCAL_DIGITS = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/;
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/;
/** Below it a number is taken as seconds, from it on as milliseconds. */
const FIRST_MILLISECONDS = 100_000_000_000;
const LAST_INSTANT = Date.UTC(9999, 11, 31);
const FIRST_INSTANT = -62_167_219_200_000;
const DAY = 86_400_000;

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {string} timeZone */
function formatOf(timeZone) {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    era: 'short',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
    hourCycle: 'h23',
  });
  formats.set(timeZone, format);
  return format;
}

/** The clock on the wall there, as if it were UTC. @param {number} instant @param {string} timeZone */
export function localAt(instant, timeZone) {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const { era, year, month, day, hour, minute, second } = parts;
  const whole = era === 'BC' ? 1 - Number(year) : Number(year);
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  return utc(whole, Number(month), Number(day), h, m, s) + (((instant % 1000) + 1000) % 1000);
}

/** Years below 100 are those. @param {number} year @param {number} month from 1 @param {...number} rest day, hour, … */
function utc(year, month, ...rest) {
  const [day = 1, hour = 0, minute = 0, second = 0] = rest;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return date.getTime();
}

/** @param {number} instant @param {string} timeZone milliseconds to add to get the clock on the wall */
const offsetAt = (instant, timeZone) => localAt(instant, timeZone) - instant;

/**
 * Of a time that comes twice or never the one that the service's library takes; that depends on the offset of now.
 *
 * @param {number} local @param {string} timeZone @param {number} now
 */
function instantOf(local, timeZone, now) {
  const guessed = offsetAt(now, timeZone);
  const first = local - guessed;
  const second = offsetAt(first, timeZone);
  if (second === guessed) return first;
  const third = offsetAt(local - second, timeZone);
  return local - (second === third ? second : Math.min(second, third));
}

/**
 * @param {string} text ISO-8601, local in the portal's zone unless it has an offset
 * @param {string} timeZone
 * @param {number} [now]
 * @returns {number | undefined} epoch milliseconds
 */
export function parseDateTime(text, timeZone, now = Date.now()) {
  const found = DATE_TIME.exec(text);
  if (!found) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((it) => Number(it ?? 0));
  const ms = Math.floor(Number(`0.${found[7] ?? 0}`) * 1000);
  // The end of a day has two names.
  const isMidnight = hour === 24 && minute === 0 && second === 0 && ms === 0;
  if ((hour > 23 && !isMidnight) || minute > 59 || second > 59) return undefined;
  const date = new Date(utc(year, month, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const local = utc(year, month, day, hour, minute, second) + ms;
  const offset = found[8];
  if (offset === undefined) return instantOf(local, timeZone, now);
  if (offset === 'Z') return local;
  const [hours, minutes] = [Number(offset.slice(1, 3)), Number(offset.slice(-2))];
  return local - (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** @param {unknown} value epoch seconds or milliseconds, or a date-time @param {string} timeZone */
export function parseInstant(value, timeZone) {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const text = String(value);
  if (DIGITS.test(text)) {
    if (isDateDigits(text)) return undefined;
    const local = LOCAL_DIGITS.exec(text);
    if (!local) return fromEpoch(Number(text));
    const [year, month, day, hour, minute, second] = local.slice(1);
    return parseDateTime(`${year}-${month}-${day}T${hour}:${minute}:${second}`, timeZone);
  }
  if (typeof value === 'number') return undefined;
  const instant = parseDateTime(value, timeZone);
  return instant === undefined || instant < FIRST_INSTANT ? undefined : instant;
}

/** A date alone, which is no timestamp. @param {string} text */
const isDateDigits = (text) =>
  DATE_DIGITS.test(text) &&
  parseDateTime(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}T00:00`, 'UTC') !==
    undefined;

/** Whether its local time has a year from 1970 to 9999. @param {number} instant @param {string} timeZone */
export function isWritable(instant, timeZone) {
  const year = new Date(localAt(instant, timeZone)).getUTCFullYear();
  return year >= 1970 && year <= 9999;
}

/** @param {number} value */
function fromEpoch(value) {
  if (!Number.isSafeInteger(value) || value < 0) return undefined;
  const instant = value < FIRST_MILLISECONDS ? value * 1000 : value;
  return instant <= LAST_INSTANT ? instant : undefined;
}

/** As `deadlineAt` is written: local; with an offset in the hour that clocks repeat. @param {number} instant @param {string} timeZone */
export function formatLocal(instant, timeZone) {
  const text = new Date(localAt(instant, timeZone)).toISOString().replace(/(\.000)?Z$/, '');
  return parseDateTime(text, timeZone) === instant ? text : new Date(instant).toISOString();
}

/** Zones change by quarters of an hour, since 1972. */
const QUARTER = 900_000;
const SINCE = 2 * 365 * DAY;

/** Which local day an instant lies in, for very many of them. @param {string} timeZone @returns {(instant: number) => string} yyyy-MM-dd */
export function createDayCalendar(timeZone) {
  /** @type {Map<number, string>} */
  const known = new Map();
  const dayOf = (/** @type {number} */ at) =>
    new Date(localAt(at, timeZone)).toISOString().slice(0, 10);
  return (instant) => {
    if (instant < SINCE) return dayOf(instant);
    const key = Math.floor(instant / QUARTER);
    const found = known.get(key);
    if (found !== undefined) return found;
    const day = dayOf(instant);
    known.set(key, day);
    return day;
  };
}
