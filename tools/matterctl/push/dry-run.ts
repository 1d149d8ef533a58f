/** What fails in a dry run is told, and written nowhere. */
import { noteAboveBar } from '../print';
import type { Tool } from '../tool';
import type { FailureFile } from './push-line';

/** Lines that are told; the summary counts all of them. */
const MAX_TOLD = 100;

/** In place of a failure file: a line on stderr for each of the first hundred lines that fail. */
export function tellFailures({ stderr }: Pick<Tool, 'stderr'>): FailureFile {
  let failed = 0;
  const tell = (text: string) => noteAboveBar(stderr, text);
  return {
    add: (failure) => {
      failed += 1;
      const { line, code, reason, message } = failure;
      if (failed <= MAX_TOLD)
        tell(`line ${line}: ${code === null ? '' : `${code} `}${reason} ${message}`);
    },
    size: () => 0,
    close: () => {
      if (failed > MAX_TOLD)
        tell(`and ${failed - MAX_TOLD} more: --failures <file> keeps all of them`);
    },
  };
}
