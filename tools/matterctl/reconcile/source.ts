/** A file to reconcile, whatever its form: checked, and ready to be compared; its bad lines are named. */

import type { ExpectedMatter } from '../../../src/queries/reconcile/expected';
import { note } from '../print';
import type { MatterList } from '../source/sources';
import type { Tool } from '../tool';
import type { Column } from './field-lines';

/** Its list has the matters of bad lines too, as far as those can be read. */
export interface Source extends MatterList {
  /** How many expected matters there are. */
  readonly size: number;
  /** Each externalId once. */
  expectedMatters(): AsyncIterable<ExpectedMatter>;
  /** Fields that rows state; undefined: whole matters are compared. */
  readonly statedFields?: readonly string[];
  /** Of a table: its columns. */
  readonly columns?: readonly Column[];
  /** Names of fields or columns that are not used. */
  readonly unknownFields: readonly string[];
  /** How many times were serial numbers of a spreadsheet. */
  readonly serials?: number;
  /** Matters of which a file of pushes holds no upsert: nothing is known of them. */
  readonly withoutUpsert: number;
  /** Pushes whose externalId the service made. */
  readonly withoutId: number;
  /** Bad lines: they were named, and are not compared. */
  readonly leftOut: number;
  /** Those of them that name no matter: nobody knows what they are about. */
  readonly leftOutUnnamed: number;
}

/** Problems that are written out. */
const MAX_SHOWN = 20;

/** Bad lines: named, so that they can be mended, without filling the screen with them. */
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
      if (count <= MAX_SHOWN) shown.push(`${file}:${line}: ${message}`);
    },
    has: (line) => bad.has(line),
    lines: () => bad.size,
    tell: () => {
      for (const text of shown) note(stderr, text);
      if (count > MAX_SHOWN) note(stderr, `… and ${count - MAX_SHOWN} more`);
    },
  };
}
