/**
 * Options that several commands have, and the parsers of option values. An invalid value is a usage error (exit code
 * 2).
 */
import { type Command, InvalidArgumentError } from 'commander';
import { hasPassword, mongoUrlProblem } from '../../src/infra/mongo-url';
import { dayAt, type LocalDay, parseDay } from '../../src/protocol/local-day';
import { parseInstant } from '../../src/protocol/time';
import { usageFailure } from './failure';
import { readLineFileSync } from './text-file';

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const LONGEST = 365 * 86_400_000;
const SPAN = /^(\d{1,9})([smhd])$/;

/** Adds the option with which a command prints JSON. */
export function withJson(command: Command, what = 'print JSON instead of a table'): Command {
  return command.option('--json', what);
}

export interface SignerTexts {
  /** Description of --client-id. */
  readonly client: string;
  /** Description of --secret-file. */
  readonly secret?: string;
}

/** Adds the options of a command that always signs as a client of the service. */
export function withSigner(
  command: Command,
  { client, secret = 'a file that holds its secret and nothing else' }: SignerTexts,
): Command {
  return withServiceUrl(
    command
      .requiredOption('--client-id <id>', client, toClientId)
      .requiredOption('--secret-file <file>', secret),
  );
}

/** Adds the option that names the service. */
export const withServiceUrl = (command: Command): Command =>
  command.option('--url <url>', 'of the service (default: the running npm start)', toServiceUrl);

/** Adds the options that name the database of a command. */
export function withDatabase(command: Command): Command {
  return withJson(command)
    .option(
      '--mongo-url <url>',
      'the database (default: MONGO_URL, else that of the running npm start); without a password',
      toMongoUrl,
    )
    .option('--mongo-url-file <file>', 'a file that holds its URL', fromMongoUrlFile);
}

/** Adds the option that names the operator in the audit trail, for commands that change the database. */
export function withOperator(command: Command): Command {
  return withDatabase(command).option(
    '--operator <name>',
    'who does this, for the audit trail (default: the user of this system)',
    toOperator,
  );
}

/** Parses a whole number within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Parses a duration such as 30m, 24h or 7d, at most a year. @returns milliseconds */
export function toSpan(text: string): number {
  const [, digits, unit = ''] = SPAN.exec(text) ?? [];
  const span = digits === undefined ? Number.NaN : Number(digits) * (UNITS[unit] ?? Number.NaN);
  if (span <= LONGEST) return span;
  throw new InvalidArgumentError('It must be a number with s, m, h or d, at most 365d, e.g. 24h.');
}

/**
 * Parses a time, a duration before now, or `today` or `yesterday`, which stand for their beginning.
 *
 * @param timeZone returns the time zone of local times; called only if the text needs it
 * @returns a parser whose result is epoch milliseconds
 */
export function momentIn(timeZone: () => string): (text: string) => number {
  return (text) => {
    if (SPAN.test(text)) return Date.now() - toSpan(text);
    const named = namedDay(text, timeZone);
    if (named) return named.start;
    // 20260501 is probably a date, but `parseInstant` would read it as epoch seconds.
    const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text;
    const instant = /^\d{1,9}$/.test(text) ? undefined : parseInstant(day, timeZone());
    if (instant !== undefined) return instant;
    throw new InvalidArgumentError(
      'It must be a time such as 2026-05-01 or 2026-05-01T08:00, a span back (15m, 24h, 7d), today or yesterday.',
    );
  };
}

/** Parses a local day: `today`, `yesterday`, or a date. */
export function dayIn(timeZone: () => string): (text: string) => LocalDay {
  return (text) => {
    const day = namedDay(text, timeZone) ?? parseDay(text, timeZone());
    if (day) return day;
    throw new InvalidArgumentError('It must be today, yesterday, or a day such as 2026-05-01.');
  };
}

/** `today` or `yesterday`. It does not subtract 24 hours, because not every day has 24 hours. */
function namedDay(text: string, timeZone: () => string): LocalDay | undefined {
  if (text !== 'today' && text !== 'yesterday') return undefined;
  const today = dayAt(Date.now(), timeZone());
  return text === 'today' ? today : dayAt(today.start - 1, timeZone());
}

/** Parses a request id: 24 hex digits. */
export function toRequestId(text: string): string {
  if (/^[0-9a-f]{24}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be 24 hex digits.');
}

/** Parses a client id. Other characters are impossible in a header. */
export function toClientId(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be printable ASCII characters without blanks.');
}

/** Parses the URL of a service. @returns the URL without a slash at its end */
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
  throw usageFailure(
    '--mongo-url must not hold a password: whoever runs ps on this machine sees it; set MONGO_URL or give --mongo-url-file',
  );
}

/** @throws the system error if the file cannot be read */
function fromMongoUrlFile(path: string): string {
  return checked('what --mongo-url-file names', readLineFileSync(path));
}

/** Without InvalidArgumentError, because Commander would print the value, which may contain a password. */
function checked(what: string, url: string): string {
  const problem = mongoUrlProblem(url);
  if (!problem) return url;
  throw usageFailure(`${what} ${problem}`);
}
