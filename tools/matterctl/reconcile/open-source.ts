/** Opens a file to reconcile, whatever its form. */

import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import type { GivenColumn } from '../../../src/files/columns';
import { CommandFailure, EXIT_USAGE } from '../failure';
import { note } from '../print';
import { showProgress } from '../progress';
import { type RawLine, readLines } from '../streams';
import { asUtf8, openTextFile, type TextFile, tellEncoding } from '../text-file';
import type { Settings, Tool } from '../tool';
import { type Column, readCsv, readNdjson } from './field-lines';
import { openPushes } from './push-source';
import { openRows } from './row-source';
import { createProblems, type Problems, type Source } from './source';

/** How a file is read. */
export interface Reading {
  /** Undefined: that of the client that will ask. */
  readonly systemCode: string | undefined;
  /** Undefined: it is found out. */
  readonly encoding?: string | undefined;
  readonly columns?: readonly GivenColumn[] | undefined;
}

/**
 * Reads all of the file. Bad lines are named on stderr and left out.
 *
 * @throws CommandFailure (exit code 2) where nothing of it can be compared
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
  tellLeftOut(source, problems, tool);
  // More likely an export that failed than a system without matters.
  if (source.size === 0) {
    throw new CommandFailure(`${file} states nothing that can be compared`, EXIT_USAGE);
  }
  return source;
}

function tellLeftOut({ leftOut, size }: Source, problems: Problems, { stderr }: Tool): void {
  if (leftOut === 0) return;
  problems.tell();
  const lines = leftOut === 1 ? '1 bad line is' : `${leftOut} bad lines are`;
  if (size > 0) note(stderr, `${lines} left out, the others are compared.`);
}

interface Opening {
  readonly file: string;
  readonly systemCode: string;
  readonly settings: Settings;
  readonly text: TextFile;
  readonly columns: readonly GivenColumn[];
}

/** @throws CommandFailure where it is not known how the file is to be read */
async function open(
  { file, systemCode, settings, text, columns: given }: Opening,
  problems: Problems,
  onLine: () => void,
): Promise<Source> {
  const timeZone = settings.timeZone();
  const lines = () => readLines(asUtf8(createReadStream(file), encodingOfLines(file, text)));
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
    return readCsv(text.pieces(), { given, onColumns });
  };
  const source = await openRows({ file, timeZone, read }, problems, onLine);
  const { columns } = seen;
  if (!columns) return source;
  const unused = columns.filter(({ name, field }) => field === undefined && name !== '');
  return { ...source, columns, unknownFields: unused.map(({ name }) => name) };
}

/** In a file of lines those that are not UTF-8 are left out; the others are read. */
function encodingOfLines(file: string, { encoding, problem }: TextFile): string {
  if (encoding !== undefined) return encoding;
  if (problem.why === 'mostly-utf-8' || problem.why === 'unknown') return 'utf-8';
  throw notComparable(file, problem);
}

const notComparable = (file: string, problem: NonNullable<TextFile['problem']>) =>
  new CommandFailure(`nothing was compared: ${tellEncoding(file, problem)}`, EXIT_USAGE);

/**
 * The form of a file; nobody has to say it. `csv` and `rows` (NDJSON) state a few fields of a matter a line; `pushes` is what
 * `matterctl push` was given.
 */
type InputForm = 'csv' | 'rows' | 'pushes';

const NDJSON = new Set(['.ndjson', '.jsonl']);

/** The extension decides where it says something, else the first line that is not blank. */
async function detectForm(path: string, text: TextFile): Promise<InputForm> {
  const extension = extname(path).toLowerCase();
  if (extension === '.csv') return 'csv';
  const encoding = text.encoding ?? 'utf-8';
  const first = await firstLine(readLines(asUtf8(createReadStream(path), encoding)));
  if (!NDJSON.has(extension) && !first.startsWith('{')) return 'csv';
  // By look, not by parsing: a broken first line is to be reported as one of its form. In a failure file they
  // stand in a text.
  return /"op\\?"\s*:/.test(first) && /"body\\?"\s*:/.test(first) ? 'pushes' : 'rows';
}

/** Leaving the loop closes the file. */
async function firstLine(lines: AsyncIterable<RawLine>): Promise<string> {
  for await (const { bytes } of lines) {
    const text = bytes?.toString('utf8').trim();
    if (text !== '') return text ?? '';
  }
  return '';
}
