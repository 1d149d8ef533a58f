/** Checks of option values; what is wrong is a usage error (exit code 2). */
import { type Command, InvalidArgumentError } from 'commander';
import { dayAt, type LocalDay, parseDay, parseInstant } from '../../src/protocol/time';
import { hasPassword, mongoUrlProblem } from '../../src/runtime/mongo-url';
import { CommandFailure, EXIT_USAGE } from './failure';
import { readLineFileSync } from './text-file';

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const LONGEST = 365 * 86_400_000;
const SPAN = /^(\d{1,9})([smhd])$/;

/** Every command can answer with JSON. */
export function withJson(command: Command, what = 'print JSON instead of a table'): Command {
  return command.option('--json', what);
}

/** Every command that works on the database can be pointed at one. */
export function withDatabase(command: Command): Command {
  return withJson(command)
    .option(
      '--mongo-url <url>',
      'the database (default: MONGO_URL, else that of the running npm start); without a password',
      toMongoUrl,
    )
    .option('--mongo-url-file <file>', 'a file that holds its URL', fromMongoUrlFile);
}

/** Every command that changes something in it names its operator in the audit trail. */
export function withOperator(command: Command): Command {
  return withDatabase(command).option(
    '--operator <name>',
    'who does this, for the audit trail (default: the user of this system)',
    toOperator,
  );
}

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** A span such as 30m, 24h or 7d, in milliseconds; at most a year. */
export function toSpan(text: string): number {
  const [, digits, unit = ''] = SPAN.exec(text) ?? [];
  const span = digits === undefined ? Number.NaN : Number(digits) * (UNITS[unit] ?? Number.NaN);
  if (span <= LONGEST) return span;
  throw new InvalidArgumentError('It must be a number with s, m, h or d, at most 365d, e.g. 24h.');
}

/**
 * A time, a span back from now, or where today or yesterday began, as epoch milliseconds.
 *
 * @param timeZone of local date-times; asked for only when there is one to read
 */
export function momentIn(timeZone: () => string): (text: string) => number {
  return (text) => {
    if (SPAN.test(text)) return Date.now() - toSpan(text);
    const named = namedDay(text, timeZone);
    if (named) return named.start;
    // 20260501 is meant as a date, and would be read as a second of 1970.
    const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text;
    const instant = /^\d{1,9}$/.test(text) ? undefined : parseInstant(day, timeZone());
    if (instant !== undefined) return instant;
    throw new InvalidArgumentError(
      'It must be a time such as 2026-05-01 or 2026-05-01T08:00, a span back (15m, 24h, 7d), today or yesterday.',
    );
  };
}

/** A whole local day: today, yesterday, or its date. */
export function dayIn(timeZone: () => string): (text: string) => LocalDay {
  return (text) => {
    const day = namedDay(text, timeZone) ?? parseDay(text, timeZone());
    if (day) return day;
    throw new InvalidArgumentError('It must be today, yesterday, or a day such as 2026-05-01.');
  };
}

/** Not by 24 hours: days are not always that long. */
function namedDay(text: string, timeZone: () => string): LocalDay | undefined {
  if (text !== 'today' && text !== 'yesterday') return undefined;
  const today = dayAt(Date.now(), timeZone());
  return text === 'today' ? today : dayAt(today.start - 1, timeZone());
}

/** A request id: 24 hex digits. */
export function toRequestId(text: string): string {
  if (/^[0-9a-f]{24}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be 24 hex digits.');
}

/** A client id as it goes into a header; no header could hold any other. */
export function toClientId(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be printable ASCII characters without blanks.');
}

/** The address of a service, without a slash at its end. */
export function toServiceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') {
    return text.replace(/\/+$/, '');
  }
  throw new InvalidArgumentError('It must be an address like http://localhost:3000.');
}

function toOperator(text: string): string {
  if (/^[^\p{Cc}]{1,64}$/u.test(text) && text.trim() !== '') return text.trim();
  throw new InvalidArgumentError('It must be a name of 1 to 64 characters.');
}

function toMongoUrl(url: string): string {
  if (!hasPassword(url)) return checked('--mongo-url', url);
  throw new CommandFailure(
    '--mongo-url must not hold a password: whoever runs ps on this machine sees it; set MONGO_URL or give --mongo-url-file',
    EXIT_USAGE,
  );
}

/** @throws the system's error where it cannot be read */
function fromMongoUrlFile(path: string): string {
  return checked('what --mongo-url-file names', readLineFileSync(path));
}

/** Not as an InvalidArgumentError: that one repeats the value. */
function checked(what: string, url: string): string {
  const problem = mongoUrlProblem(url);
  if (!problem) return url;
  throw new CommandFailure(`${what} ${problem}`, EXIT_USAGE);
}
