/** Everything that is wrong with a file, told at once, without filling the screen with it. */
import { CommandFailure, EXIT_USAGE } from '../failure';
import { escapeUnprintable } from '../print';
import type { Tool } from '../tool';

const MAX_SHOWN = 20;

export interface Problems {
  /** @param line from 1, as an editor counts */
  add(line: number, message: string): void;
  /** @throws CommandFailure where there was any, after the first of them were written to stderr */
  throwIfAny(): void;
}

export function createProblems(file: string, { stderr }: Tool): Problems {
  const shown: string[] = [];
  let count = 0;
  return {
    add: (line, message) => {
      count += 1;
      if (count <= MAX_SHOWN) shown.push(`${escapeUnprintable(`${file}:${line}: ${message}`)}\n`);
    },
    throwIfAny: () => {
      if (count === 0) return;
      for (const text of shown) stderr.write(text);
      if (count > MAX_SHOWN) stderr.write(`… and ${count - MAX_SHOWN} more\n`);
      const what = count === 1 ? 'the line' : `the ${count} problems`;
      throw new CommandFailure(
        `nothing was compared: mend ${what} above and run it again`,
        EXIT_USAGE,
      );
    },
  };
}
