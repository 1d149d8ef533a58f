/** Reads a list of users from a CSV file. It reports all problems of the file together. */
import {
  type ColumnMapping,
  mapColumns,
  missingColumns,
  USER_COLUMNS,
} from '../../src/files/columns';
import { CsvError, CsvReader, type CsvRecord } from '../../src/files/csv';
import type { NewUser } from '../../src/storage/directory';

export interface LineProblem {
  /** From 1, as in an editor. */
  readonly line: number;
  readonly message: string;
}

export interface UsersCsv {
  /** Each username once, in the order of the file. */
  readonly users: readonly NewUser[];
  readonly problems: readonly LineProblem[];
}

const COLUMNS = ['username', 'displayName'] as const;
const MAX_LENGTH = 64;
const CONTROLS = /\p{Cc}/u;

/** @param mappings the columns that the user assigns to fields, because their names do not fit */
export async function readUsersCsv(
  pieces: AsyncIterable<string>,
  mappings: readonly ColumnMapping[] = [],
): Promise<UsersCsv> {
  const records: CsvRecord[] = [];
  const reader = new CsvReader((record) => records.push(record));
  try {
    for await (const piece of pieces) reader.take(piece);
    reader.end();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return failed(error.line, error.message);
  }
  const [head, ...rows] = records;
  const names = head?.cells ?? [];
  const { mapping, problem } = mapColumns(names, USER_COLUMNS, mappings);
  if (problem !== undefined) return failed(head?.line ?? 1, problem);
  const missing = missingColumns(names, mapping, COLUMNS);
  if (missing !== undefined) return failed(head?.line ?? 1, missing);
  return collect(
    rows,
    COLUMNS.map((field) => mapping.indexOf(field)),
  );
}

function collect(rows: readonly CsvRecord[], places: readonly number[]): UsersCsv {
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
  return { users: [], problems: [{ line, message }] };
}
