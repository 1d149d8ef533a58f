/** Opens a file for a comparison with the ledger. It detects the form of the file. */

import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import type { ColumnMapping } from '../../../src/files/columns';
import { usageFailure } from '../failure';
import { note } from '../print';
import { showProgress } from '../progress';
import { readTextLines, type TextLine } from '../streams';
import { asUtf8, encodingMessage, openTextFile, type TextFile } from '../text-file';
import type { Settings, Tool } from '../tool';
import { type Column, readCsv, readNdjson } from './field-lines';
import { openPushes } from './push-source';
import { openRows } from './row-source';
import { createProblems, type Problems, type Source } from './source';

/** How to read a file. */
export interface Reading {
  /** Undefined: the system of the client that signs. */
  readonly systemCode: string | undefined;
  /** Undefined: the encoding is detected. */
  readonly encoding?: string | undefined;
  readonly columns?: readonly ColumnMapping[] | undefined;
}

/**
 * Reads and checks the whole file. It prints bad lines on stderr and leaves them out.
 *
 * @throws CommandFailure (exit code 2) if no line of the file can be compared
 */
export async function openSource(
  file: string,
  { systemCode, encoding, columns = [] }: Reading,
  tool: Tool,
): Promise<Source> {
  const text = await openTextFile(file, encoding);
  const problems = createProblems(file, tool);
  let lines = 0;
  const hideProgress = showProgress({
    stderr: tool.stderr,
    total: undefined,
    things: 'lines',
    state: () => ({ done: lines, note: 'read' }),
  });
  const opening = { file, systemCode: systemCode ?? '', settings: tool.settings, text, columns };
  const source = await open(opening, problems, () => {
    lines += 1;
  }).finally(hideProgress);
  printLeftOut(source, problems, tool);
  // A failed export is more likely than a system without matters.
  if (source.size === 0) {
    throw usageFailure(`${file} states nothing that can be compared`);
  }
  return source;
}

function printLeftOut({ leftOut, size }: Source, problems: Problems, { stderr }: Tool): void {
  if (leftOut === 0) return;
  problems.report();
  const lines = leftOut === 1 ? '1 bad line is' : `${leftOut} bad lines are`;
  if (size > 0) note(stderr, `${lines} left out, the others are compared.`);
}

interface Opening {
  readonly file: string;
  readonly systemCode: string;
  readonly settings: Settings;
  readonly text: TextFile;
  readonly columns: readonly ColumnMapping[];
}

/** @throws CommandFailure if the encoding of the file is doubtful */
async function open(
  { file, systemCode, settings, text, columns: mappings }: Opening,
  problems: Problems,
  onLine: () => void,
): Promise<Source> {
  const timeZone = settings.timeZone();
  const lines = () => readTextLines(asUtf8(createReadStream(file), encodingOfLines(file, text)));
  const form = await detectForm(file, text);
  if (form === 'pushes') {
    const concluded = settings.concluded();
    return openPushes({ lines, systemCode, timeZone, concluded }, problems, onLine);
  }
  const seen: { columns?: readonly Column[] } = {};
  const onColumns = (columns: readonly Column[]) => {
    seen.columns = columns;
  };
  const read = () => {
    if (form === 'rows') return readNdjson(lines());
    if (text.problem) throw notComparable(file, text.problem);
    return readCsv(text.pieces(), { mappings, onColumns });
  };
  const source = await openRows({ file, timeZone, read }, problems, onLine);
  const { columns } = seen;
  if (!columns) return source;
  const unused = columns.filter(({ name, field }) => field === undefined && name !== '');
  return { ...source, columns, unknownFields: unused.map(({ name }) => name) };
}

/** The encoding of a file of lines. If only some lines are not UTF-8, these are left out. */
function encodingOfLines(file: string, { encoding, problem }: TextFile): string {
  if (encoding !== undefined) return encoding;
  if (problem.why === 'mostly-utf-8' || problem.why === 'unknown') return 'utf-8';
  throw notComparable(file, problem);
}

const notComparable = (file: string, problem: NonNullable<TextFile['problem']>) =>
  usageFailure(`nothing was compared: ${encodingMessage(file, problem)}`);

/**
 * The form of a file, which is detected. Each line of `csv` and `rows` (NDJSON) states some fields of a matter.
 * `pushes` is a file for `matterctl push`.
 */
type InputForm = 'csv' | 'rows' | 'pushes';

const NDJSON = new Set(['.ndjson', '.jsonl']);

/** Detects the form by the extension, or else by the first line that is not blank. */
async function detectForm(path: string, text: TextFile): Promise<InputForm> {
  const extension = extname(path).toLowerCase();
  if (extension === '.csv') return 'csv';
  const encoding = text.encoding ?? 'utf-8';
  const first = await firstLine(readTextLines(asUtf8(createReadStream(path), encoding)));
  if (!NDJSON.has(extension) && !first.startsWith('{')) return 'csv';
  // A pattern instead of a parser, so that a broken first line is reported as a line of its form. In a failure file, a
  // text contains the line, with escaped quotes.
  return /"op\\?"\s*:/.test(first) && /"body\\?"\s*:/.test(first) ? 'pushes' : 'rows';
}

/** The first line that is not blank. The return closes the file. */
async function firstLine(lines: AsyncIterable<TextLine>): Promise<string> {
  for await (const { bytes } of lines) {
    const text = bytes?.toString('utf8').trim();
    if (text !== '') return text ?? '';
  }
  return '';
}
