/** Prints the lines that fail in a dry run, instead of writing a failure file. */
import { noteAboveBar } from '../print';
import type { Tool } from '../tool';
import type { FailureFile } from './push-line';

/** Maximum lines that are printed. The summary counts all of them. */
const MAX_PRINTED = 100;

/** @returns an object for use as a failure file, which prints a line on stderr for each failed line */
export function printFailures({ stderr }: Pick<Tool, 'stderr'>): FailureFile {
  let failed = 0;
  const print = (text: string) => noteAboveBar(stderr, text);
  return {
    add: (failure) => {
      failed += 1;
      const { line, code, reason, message } = failure;
      if (failed <= MAX_PRINTED)
        print(`line ${line}: ${code === null ? '' : `${code} `}${reason} ${message}`);
    },
    size: () => 0,
    close: () => {
      if (failed > MAX_PRINTED)
        print(`and ${failed - MAX_PRINTED} more: --failures <file> keeps all of them`);
    },
  };
}
