/** Reads the lines of a CSV or NDJSON file with fields one after another, because it may be larger than the memory. */
import { fieldsOf } from '../../../src/files/cells';
import {
  type ColumnMapping,
  MATTER_COLUMNS,
  type Mapping,
  mapColumns,
  missingColumns,
} from '../../../src/files/columns';
import { CsvError, CsvReader, type CsvRecord } from '../../../src/files/csv';
import type { TextLine } from '../streams';

/** A line of the file. A blank line has neither fields nor a problem. */
export interface FieldLine {
  /** From 1, as in an editor. */
  readonly line: number;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly problem?: string;
  /** True: the problem concerns the whole file, and no further line can be read. */
  readonly isFatal?: boolean;
}

/** A column of a CSV file. */
export interface Column {
  readonly name: string;
  /** Undefined if the column is not used. */
  readonly field: string | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export async function* readNdjson(lines: AsyncIterable<TextLine>): AsyncGenerator<FieldLine> {
  for await (const raw of lines) yield toFieldLine(raw);
}

function toFieldLine({ number: line, bytes }: TextLine): FieldLine {
  if (!bytes) return { line, problem: 'the line is too long' };
  try {
    const text = utf8.decode(bytes).trim();
    if (text === '') return { line };
    const json: unknown = JSON.parse(text);
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
    return isObject ? { line, fields: { ...json } } : { line, problem: 'not a JSON object' };
  } catch (error) {
    const isJson = error instanceof SyntaxError;
    return { line, problem: isJson ? `not JSON: ${error.message}` : 'not UTF-8' };
  }
}

export interface ReadingCsv {
  /** The columns that the user states. They override the guess. */
  readonly mappings: readonly ColumnMapping[];
  /** Called with the columns of the header. */
  readonly onColumns?: (columns: readonly Column[]) => void;
}

/** Yields the lines of a CSV file. An empty cell states no field. If the header is invalid, it is the only line. */
export async function* readCsv(
  pieces: AsyncIterable<string>,
  { mappings, onColumns }: ReadingCsv,
): AsyncGenerator<FieldLine> {
  let mapping: Mapping | undefined;
  try {
    for await (const record of recordsOf(pieces)) {
      if (mapping) yield toLine(record, mapping);
      else {
        const { cells: head, line } = record;
        const mapped = mapColumns(head, MATTER_COLUMNS, mappings);
        const problem = mapped.problem ?? missingColumns(head, mapped.mapping, ['externalId']);
        if (problem !== undefined || !mapped.mapping) {
          yield { line, problem: problem ?? '', isFatal: true };
          return;
        }
        mapping = mapped.mapping;
        onColumns?.(head.map((name, at) => ({ name, field: mapped.mapping[at] })));
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { line: error.line, problem: error.message, isFatal: true };
  }
}

/** @throws CsvError */
async function* recordsOf(pieces: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  let records: CsvRecord[] = [];
  const reader = new CsvReader((record) => records.push(record));
  const take = () => {
    const taken = records;
    records = [];
    return taken;
  };
  for await (const piece of pieces) {
    reader.take(piece);
    yield* take();
  }
  reader.end();
  yield* take();
}

function toLine(record: CsvRecord, mapping: Mapping): FieldLine {
  const { line, cells } = record;
  const fields = fieldsOf(record, mapping);
  return fields
    ? { line, fields }
    : { line, problem: `${cells.length} cells under ${mapping.length} columns` };
}
