/** Opens a file to reconcile, whatever its form. */

import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { CommandFailure, EXIT_USAGE } from '../failure';
import { showProgress } from '../progress';
import { readLines } from '../streams';
import type { Settings, Tool } from '../tool';
import { readCsv, readNdjson } from './field-lines';
import { openPushes } from './push-source';
import { openRows } from './row-source';
import { createProblems, type Problems, type Source } from './source';

/**
 * Reads all of the file. Bad lines are named on stderr and left out.
 *
 * @param systemCode undefined: that of the client that will ask
 * @throws CommandFailure (exit code 2) where nothing of it can be compared
 */
export async function openSource(
  file: string,
  systemCode: string | undefined,
  tool: Tool,
): Promise<Source> {
  const problems = createProblems(file, tool);
  let lines = 0;
  const hideProgress = showProgress({
    stderr: tool.stderr,
    total: undefined,
    things: 'lines',
    state: () => ({ done: lines, note: 'read' }),
  });
  const opening = { file, systemCode: systemCode ?? '', settings: tool.settings };
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
  if (size > 0) stderr.write(`${lines} left out, the others are compared.\n`);
}

interface Opening {
  readonly file: string;
  readonly systemCode: string;
  readonly settings: Settings;
}

async function open(
  { file, systemCode, settings }: Opening,
  problems: Problems,
  onLine: () => void,
): Promise<Source> {
  const timeZone = settings.timeZone();
  const form = await detectForm(file);
  if (form === 'pushes') {
    const concluded = settings.concluded();
    return openPushes({ file, systemCode, timeZone, concluded }, problems, onLine);
  }
  const read = () => (form === 'csv' ? readCsv(file) : readNdjson(file));
  return openRows({ file, timeZone, read }, problems, onLine);
}

/**
 * The form of a file; nobody has to say it. `csv` and `rows` (NDJSON) state a few fields of a matter a line; `pushes` is what
 * `matterctl push` was given.
 */
type InputForm = 'csv' | 'rows' | 'pushes';

const NDJSON = new Set(['.ndjson', '.jsonl']);

/** The extension decides where it says something, else the first line that is not blank. */
async function detectForm(path: string): Promise<InputForm> {
  const extension = extname(path).toLowerCase();
  if (extension === '.csv') return 'csv';
  const first = await firstLine(path);
  if (!NDJSON.has(extension) && !first.startsWith('{')) return 'csv';
  // By look, not by parsing: a broken first line is to be reported as one of its form. In a failure file they
  // stand in a text.
  return /"op\\?"\s*:/.test(first) && /"body\\?"\s*:/.test(first) ? 'pushes' : 'rows';
}

async function firstLine(path: string): Promise<string> {
  const input = createReadStream(path);
  try {
    for await (const { bytes } of readLines(input)) {
      const text = bytes?.toString('utf8').trim();
      if (text !== '') return text ?? '';
    }
    return '';
  } finally {
    input.destroy();
  }
}
