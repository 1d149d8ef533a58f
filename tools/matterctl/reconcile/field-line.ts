/** One line of a file that states fields: as CSV or NDJSON alike. */
import { createReadStream } from 'node:fs';
import { type RawLine, readLines } from '../read-lines';

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
