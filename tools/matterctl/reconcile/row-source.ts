/** Reads a file of rows twice: first to check the whole file, then to compare it. */

import { isExternalId } from '../../../src/protocol/field-rules';
import type { Row } from '../../../src/queries/reconcile/expected';
import { createReadRow, isRowField } from '../../../src/queries/reconcile/read-row';
import { CommandFailure, usageFailure } from '../failure';
import type { FieldLine } from './field-lines';
import type { Problems, Source } from './source';

export interface RowFile {
  readonly file: string;
  readonly timeZone: string;
  /** Reads the lines. Each call starts at the first line. */
  readonly read: () => AsyncIterable<FieldLine>;
}

/**
 * Checks the file. Only the ids stay in memory, to find duplicates and orphans.
 *
 * @param onLine called after each line is read
 * @throws CommandFailure (exit code 2) if the file cannot be read
 */
export async function openRows(
  { file, timeZone, read }: RowFile,
  problems: Problems,
  onLine: () => void,
): Promise<Source> {
  const parse = createRowParser(timeZone);
  const checked = new CheckedRows(parse, problems);
  for await (const line of read()) {
    onLine();
    if (line.isFatal) {
      const { line: at, problem } = line;
      throw usageFailure(`nothing was compared: ${file}:${at}: ${problem}`);
    }
    checked.add(line);
  }
  const { lines, ofBadLines, unknownFields, statedFields, serials, unnamed } = checked;
  return {
    size: lines.size,
    names: (externalId) => lines.has(externalId) || ofBadLines.has(externalId),
    ids: () => new Set([...lines.keys(), ...ofBadLines]),
    expectedMatters: () => rowsOf(read(), parse, { file, problems }),
    unknownFields: [...unknownFields],
    statedFields: [...statedFields],
    serials,
    withoutUpsert: 0,
    withoutId: 0,
    leftOut: problems.lines(),
    leftOutUnnamed: unnamed,
  };
}

class CheckedRows {
  /** The line of each externalId. */
  readonly lines = new Map<string, number>();
  readonly ofBadLines = new Set<string>();
  readonly unknownFields = new Set<string>();
  readonly statedFields = new Set<string>();
  serials = 0;
  /** Number of bad lines without a valid externalId. */
  unnamed = 0;
  readonly #parse: RowParser;
  readonly #problems: Problems;

  constructor(parse: RowParser, problems: Problems) {
    this.#parse = parse;
    this.#problems = problems;
  }

  add({ line, fields, problem }: FieldLine): void {
    if (problem !== undefined) this.#leaveOut(line, [problem], undefined);
    if (!fields) return;
    const { row, problems, serials } = this.#parse(fields);
    this.serials += serials;
    for (const [name, value] of Object.entries(fields)) {
      if (!isRowField(name)) this.unknownFields.add(name);
      else if (value !== undefined) this.statedFields.add(name);
    }
    if (!row) {
      this.#leaveOut(line, problems, fields.externalId);
      return;
    }
    const { externalId } = row.expected;
    const earlier = this.lines.get(externalId);
    if (earlier === undefined) this.lines.set(externalId, line);
    else this.#leaveOut(line, [`${externalId} stands on line ${earlier} too`], externalId);
  }

  #leaveOut(line: number, messages: readonly string[], id: unknown): void {
    for (const message of messages) this.#problems.add(line, message);
    if (!isExternalId(id)) this.unnamed += 1;
    else if (!this.lines.has(id)) this.ofBadLines.add(id);
  }
}

async function* rowsOf(
  lines: AsyncIterable<FieldLine>,
  parse: RowParser,
  { file, problems }: { readonly file: string; readonly problems: Problems },
): AsyncGenerator<Row> {
  for await (const { line, fields, problem } of lines) {
    if (problems.has(line)) continue;
    const { row } = fields ? parse(fields) : {};
    if (row) yield row;
    else if (fields || problem !== undefined) {
      throw new CommandFailure(`${file}:${line}: the file was changed while it was read`);
    }
  }
}

/** Messages about invalid fields. The messages of the service are written for callers, not for users of files. */
const EXPECTED: Readonly<Record<string, string>> = {
  externalId: 'must be a text of 1 to 128 characters on one line',
  bizStatus: 'must be upper snake case such as IN_REVIEW, at most 64 characters',
  externalStatusCode: 'must be a text of at most 128 characters',
  sourceUpdatedAt: 'is no time such as 2024-06-01 08:00:00, 2024/6/1 8:00 or 1717200000',
  deadlineAt: 'is no time such as 2024-06-01 08:00:00 or 2024/6/1 8:00',
  deleted: 'must be true or false',
  parties: 'must be a JSON list',
  replaceParties: 'must be true or false',
  removeParties: 'must be a JSON list',
  assignee: 'must be a list of logins',
};

type RowParser = (fields: Readonly<Record<string, unknown>>) => ParsedRow;

interface ParsedRow {
  readonly row?: Row | undefined;
  /** All problems of the line, if it has no row. */
  readonly problems: readonly string[];
  readonly serials: number;
}

/**
 * @param timeZone the time zone of times without a zone
 * @returns a function that checks the fields of one line and makes a row of them
 */
function createRowParser(timeZone: string): RowParser {
  const readRow = createReadRow(timeZone);
  return (fields) => {
    const { row, wrong, serials } = readRow(fields);
    return { row, problems: wrong.map((name) => problemText(name, fields[name])), serials };
  };
}

const problemText = (name: string, value: unknown) =>
  value === undefined ? `${name} is missing` : `${name} ${EXPECTED[name] ?? 'is not valid'}`;
