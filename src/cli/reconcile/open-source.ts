/** Opens a file to reconcile, whatever its form. */
import { CommandFailure, EXIT_USAGE } from '../failure';
import { showProgress } from '../progress';
import type { Settings } from '../settings';
import type { Tool } from '../tool';
import { readCsv } from './csv-lines';
import { readNdjson } from './field-line';
import { detectForm } from './input-form';
import { createProblems, type Problems } from './problems';
import { openPushes } from './push-source';
import { openRows } from './row-source';
import type { Source } from './source';

/**
 * Reads all of the file, so that nothing is compared where a line of it is bad.
 *
 * @throws CommandFailure (exit code 2) after all bad lines were named on stderr
 */
export async function openSource(file: string, systemCode: string, tool: Tool): Promise<Source> {
  const problems = createProblems(file, tool);
  let lines = 0;
  const hideProgress = showProgress({
    stderr: tool.stderr,
    total: undefined,
    things: 'lines',
    state: () => ({ done: lines, note: 'read' }),
  });
  try {
    const source = await open({ file, systemCode, settings: tool.settings }, problems, () => {
      lines += 1;
    });
    // More likely an export that failed than a system without matters.
    if (source.size === 0) throw new CommandFailure(`${file} states nothing`, EXIT_USAGE);
    return source;
  } finally {
    hideProgress();
  }
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
