/** A file of rows: read once to check all of it, and again to compare. */
import { CommandFailure } from '../failure';
import type { FieldLine } from './field-line';
import { createRowParser } from './parse-row';
import type { Problems } from './problems';
import type { Source } from './source';
import type { Row } from './statement';

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
 */
export async function openRows(
  { file, timeZone, read }: RowFile,
  problems: Problems,
  onLine: () => void,
): Promise<Source> {
  const parse = createRowParser(timeZone);
  const lines = new Map<string, number>();
  const unknownFields = new Set<string>();
  for await (const { line, fields, problem } of read()) {
    onLine();
    if (problem !== undefined) problems.add(line, problem);
    if (!fields) continue;
    const parsed = parse(fields);
    for (const name of parsed.unknown) unknownFields.add(name);
    for (const message of parsed.problems) problems.add(line, message);
    if (!parsed.row) continue;
    const { externalId } = parsed.row.believed;
    const earlier = lines.get(externalId);
    if (earlier === undefined) lines.set(externalId, line);
    else problems.add(line, `${externalId} stands on line ${earlier} too`);
  }
  problems.throwIfAny();
  return {
    size: lines.size,
    names: (externalId) => lines.has(externalId),
    statements: () => rowsOf(read(), parse, file),
    unknownFields: [...unknownFields],
    withoutUpsert: 0,
    withoutId: 0,
  };
}

async function* rowsOf(
  lines: AsyncIterable<FieldLine>,
  parse: ReturnType<typeof createRowParser>,
  file: string,
): AsyncGenerator<Row> {
  for await (const { line, fields, problem } of lines) {
    const { row } = fields ? parse(fields) : {};
    if (row) yield row;
    else if (fields || problem !== undefined) {
      throw new CommandFailure(`${file}:${line}: the file was changed while it was read`);
    }
  }
}
