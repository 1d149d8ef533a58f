/** A file of rows: read once to check all of it, and again to compare. */
import { externalId as idRule } from '../../../src/protocol/fields';
import { CommandFailure, EXIT_USAGE } from '../failure';
import type { Row } from './expected-matter';
import type { FieldLine } from './field-line';
import { createRowParser } from './parse-row';
import type { Problems } from './problems';
import type { Source } from './source';

export interface RowFile {
  readonly file: string;
  readonly timeZone: string;
  /** Starts at the first line with each call. */
  readonly read: () => AsyncIterable<FieldLine>;
}

/**
 * Only the ids stay in memory: they tell duplicates and orphans.
 *
 * @param onLine called with each line that was read
 * @throws CommandFailure (exit code 2) where the file as a whole cannot be read
 */
export async function openRows(
  { file, timeZone, read }: RowFile,
  problems: Problems,
  onLine: () => void,
): Promise<Source> {
  const parse = createRowParser(timeZone);
  const lines = new Map<string, number>();
  const unknownFields = new Set<string>();
  const ofBadLines = new Set<string>();
  let unnamed = 0;
  const leaveOut = (line: number, messages: readonly string[], id: unknown) => {
    for (const message of messages) problems.add(line, message);
    const { data } = idRule.safeParse(id);
    if (data === undefined) unnamed += 1;
    else if (!lines.has(data)) ofBadLines.add(data);
  };
  for await (const { line, fields, problem, isFatal } of read()) {
    onLine();
    if (isFatal) {
      throw new CommandFailure(`nothing was compared: ${file}:${line}: ${problem}`, EXIT_USAGE);
    }
    if (problem !== undefined) leaveOut(line, [problem], undefined);
    if (!fields) continue;
    const parsed = parse(fields);
    for (const name of parsed.unknown) unknownFields.add(name);
    if (!parsed.row) {
      leaveOut(line, parsed.problems, fields.externalId);
      continue;
    }
    const { externalId } = parsed.row.expected;
    const earlier = lines.get(externalId);
    if (earlier === undefined) lines.set(externalId, line);
    else leaveOut(line, [`${externalId} stands on line ${earlier} too`], externalId);
  }
  return {
    size: lines.size,
    names: (externalId) => lines.has(externalId) || ofBadLines.has(externalId),
    ids: () => new Set([...lines.keys(), ...ofBadLines]),
    expectedMatters: () => rowsOf(read(), parse, { file, problems }),
    unknownFields: [...unknownFields],
    withoutUpsert: 0,
    withoutId: 0,
    leftOut: problems.lines(),
    leftOutUnnamed: unnamed,
  };
}

async function* rowsOf(
  lines: AsyncIterable<FieldLine>,
  parse: ReturnType<typeof createRowParser>,
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
