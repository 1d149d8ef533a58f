/** Reads a spreadsheet's list of users: whatever encoding it was saved in, every problem at once. */
import { CsvError, type Info, parse } from 'csv-parse/sync';
import type { NewUser } from '../../src/storage/directory/user-admin';
import { decodeText, type Encoding } from './decode-text';

export interface LineProblem {
  /** From 1, as an editor counts. */
  readonly line: number;
  readonly message: string;
}

export interface UsersCsv {
  /** In the order of the file, each username once. */
  readonly users: readonly NewUser[];
  readonly problems: readonly LineProblem[];
  readonly encoding: Encoding | undefined;
}

interface Row {
  readonly cells: readonly string[];
  readonly line: number;
}

const COLUMNS = ['username', 'displayName'] as const;
const MAX_LENGTH = 64;
const CONTROLS = /\p{Cc}/u;

/** @param bytes UTF-8 with or without BOM, else GBK/GB18030 */
export function readUsersCsv(bytes: Uint8Array): UsersCsv {
  const decoded = decodeText(bytes);
  if (!decoded) return failed(1, 'the file is neither UTF-8 nor GBK: save it as "CSV UTF-8"');
  const { text, encoding } = decoded;
  try {
    const [head, ...rows] = parseRows(text);
    const places = COLUMNS.map((name) => head?.cells.indexOf(name) ?? -1);
    const missing = COLUMNS.filter((_, index) => places[index] === -1);
    if (missing.length > 0) {
      return failed(head?.line ?? 1, `the header has no column ${missing.join(' and ')}`);
    }
    return { ...collect(rows, places), encoding };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return failed(Number(error.lines ?? 1), error.message);
  }
}

function parseRows(text: string): Row[] {
  const options = {
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  } as const;
  const records = parse(text, options) as unknown as { record: string[]; info: Info }[];
  return records
    .map(({ record, info }) => ({ cells: record, line: info.lines }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
}

function collect(rows: readonly Row[], places: readonly number[]) {
  const seen = new Map<string, { user: NewUser; line: number }>();
  const problems: LineProblem[] = [];
  for (const { cells, line } of rows) {
    const [username, displayName] = places.map((place) => cells[place]);
    const messages = [check('username', username), check('displayName', displayName)].filter(
      (message) => message !== undefined,
    );
    problems.push(...messages.map((message) => ({ line, message })));
    if (messages.length > 0 || !username || !displayName) continue;
    const earlier = seen.get(username);
    if (!earlier) seen.set(username, { user: { username, displayName }, line });
    else if (earlier.user.displayName !== displayName) {
      problems.push({ line, message: `${username} has another name on line ${earlier.line}` });
    }
  }
  return { users: [...seen.values()].map(({ user }) => user), problems };
}

function check(column: string, value: string | undefined): string | undefined {
  if (value === undefined) return `the column ${column} is missing`;
  if (value === '') return `${column} is empty`;
  if (value.length > MAX_LENGTH) return `${column} is longer than ${MAX_LENGTH} characters`;
  return CONTROLS.test(value) ? `${column} holds a control character` : undefined;
}

function failed(line: number, message: string): UsersCsv {
  return { users: [], problems: [{ line, message }], encoding: undefined };
}
