/** The lines of a file that states fields, one after the other: the file may be larger than the memory. */
import { fieldsOf } from '../../../src/files/cells';
import {
  type GivenColumn,
  MATTER_COLUMNS,
  type Mapping,
  mapColumns,
  missingColumns,
} from '../../../src/files/columns';
import { CsvError, CsvReader, type CsvRecord } from '../../../src/files/csv';
import type { RawLine } from '../streams';

/** Neither fields nor a problem: a blank line. */
export interface FieldLine {
  /** From 1, as an editor counts. */
  readonly line: number;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly problem?: string;
  /** The problem is that of the whole file: nothing behind it can be read. */
  readonly isFatal?: boolean;
}

/** A column of a table and the field that it holds; undefined: it is not used. */
export interface Column {
  readonly name: string;
  readonly field: string | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export async function* readNdjson(lines: AsyncIterable<RawLine>): AsyncGenerator<FieldLine> {
  for await (const raw of lines) yield toFieldLine(raw);
}

function toFieldLine({ number: line, bytes }: RawLine): FieldLine {
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
  /** Of the user: they go before what is guessed. */
  readonly given: readonly GivenColumn[];
  /** Told the columns of the header. */
  readonly onColumns?: (columns: readonly Column[]) => void;
}

/** An empty cell states nothing: its field is undefined. A bad header is the only line given. */
export async function* readCsv(
  pieces: AsyncIterable<string>,
  { given, onColumns }: ReadingCsv,
): AsyncGenerator<FieldLine> {
  let mapping: Mapping | undefined;
  try {
    for await (const record of recordsOf(pieces)) {
      if (mapping) yield toLine(record, mapping);
      else {
        const { cells: head, line } = record;
        const mapped = mapColumns(head, MATTER_COLUMNS, given);
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
