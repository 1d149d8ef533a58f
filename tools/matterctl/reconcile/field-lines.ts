/** The lines of a file that states fields, one after the other: the file may be larger than the memory. */
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { decodeFile, encodingOf } from '../decode-text';
import { type RawLine, readLines } from '../streams';

/** Neither fields nor a problem: a blank line. */
export interface FieldLine {
  /** From 1, as an editor counts. */
  readonly line: number;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly problem?: string;
  /** The problem is that of the whole file: nothing behind it can be read. */
  readonly isFatal?: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export async function* readNdjson(path: string): AsyncGenerator<FieldLine> {
  for await (const raw of readLines(createReadStream(path))) yield toFieldLine(raw);
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

const CSV_OPTIONS = {
  info: true,
  relax_column_count: true,
  skip_empty_lines: true,
  trim: true,
  // In bytes: a quote that is never closed must not gather the rest of the file.
  max_record_size: 4 * 1024 * 1024,
} as const;

const NO_ENCODING = 'the file is neither UTF-8 nor GBK: save it as "CSV UTF-8"';

/** An empty cell states nothing: its field is undefined. A bad header is the only line given. */
export async function* readCsv(path: string): AsyncGenerator<FieldLine> {
  const encoding = await encodingOf(path);
  if (!encoding) {
    yield { line: 1, problem: NO_ENCODING, isFatal: true };
    return;
  }
  const parser = parse(CSV_OPTIONS);
  // Its errors end the loop below too.
  pipeline(Readable.from(decodeFile(path, encoding)), parser, () => {});
  let head: readonly string[] | undefined;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      if (head) yield toLine(head, record, info.lines);
      else {
        head = record;
        const problem = headProblem(head);
        if (problem !== undefined) {
          yield { line: info.lines, problem, isFatal: true };
          return;
        }
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { line: Number(error.lines ?? 1), problem: error.message, isFatal: true };
  }
}

interface Parsed {
  readonly record: string[];
  readonly info: Info;
}

function headProblem(head: readonly string[]): string | undefined {
  if (!head.includes('externalId')) return 'the header has no column externalId';
  const twice = head.find((name, index) => name !== '' && head.indexOf(name) !== index);
  return twice === undefined ? undefined : `the header has the column ${twice} twice`;
}

function toLine(head: readonly string[], cells: readonly string[], line: number): FieldLine {
  if (cells.every((cell) => cell === '')) return { line };
  if (cells.slice(head.length).some((cell) => cell !== '')) {
    return { line, problem: `${cells.length} cells under ${head.length} columns` };
  }
  const named = head.map((name, index) => [name, toValue(name, cells[index] ?? '')]);
  return { line, fields: Object.fromEntries(named.filter(([name]) => name !== '')) };
}

/** @returns the text itself where it is not what its field needs, so that it is told as that */
function toValue(name: string, cell: string): unknown {
  if (cell === '') return undefined;
  switch (name) {
    case 'deleted':
    case 'replaceParties':
      // Spreadsheets write TRUE and FALSE.
      return { true: true, false: false }[cell.toLowerCase()] ?? cell;
    case 'parties':
      return parseJson(cell) ?? cell;
    default:
      return cell;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller tells what the field needs.
    return undefined;
  }
}
