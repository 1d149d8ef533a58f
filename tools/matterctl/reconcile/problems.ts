/** Lines that cannot be compared: named, so that they can be mended, without filling the screen with them. */
import { escapeUnprintable } from '../print';
import type { Tool } from '../tool';

const MAX_SHOWN = 20;

export interface Problems {
  /** @param line from 1, as an editor counts; a line may have several problems */
  add(line: number, message: string): void;
  has(line: number): boolean;
  /** How many lines are bad. */
  lines(): number;
  /** Writes the first of them to stderr. */
  tell(): void;
}

export function createProblems(file: string, { stderr }: Pick<Tool, 'stderr'>): Problems {
  const shown: string[] = [];
  const bad = new Set<number>();
  let count = 0;
  return {
    add: (line, message) => {
      bad.add(line);
      count += 1;
      if (count <= MAX_SHOWN) shown.push(`${escapeUnprintable(`${file}:${line}: ${message}`)}\n`);
    },
    has: (line) => bad.has(line),
    lines: () => bad.size,
    tell: () => {
      for (const text of shown) stderr.write(text);
      if (count > MAX_SHOWN) stderr.write(`… and ${count - MAX_SHOWN} more\n`);
    },
  };
}
