/** A checked file, ready for the comparison with the ledger, and the problems of its bad lines. */

import type { ExpectedMatter } from '../../../src/queries/reconcile/expected';
import { note } from '../print';
import type { MatterList } from '../source/sources';
import type { Tool } from '../tool';
import type { Column } from './field-lines';

/** The checked file. Its list contains the ids of bad lines too, if they can be read. */
export interface Source extends MatterList {
  /** Number of expected matters. */
  readonly size: number;
  /** Each externalId once. */
  expectedMatters(): AsyncIterable<ExpectedMatter>;
  /** The fields that the rows state; undefined if the file has pushes, so that whole matters are compared. */
  readonly statedFields?: readonly string[];
  /** The columns of a CSV file. */
  readonly columns?: readonly Column[];
  /** Names of fields or columns that are not used. */
  readonly unknownFields: readonly string[];
  /** Number of times that are serial numbers of a spreadsheet. */
  readonly serials?: number;
  /** Number of matters without an upsert in a file of pushes. They cannot be compared. */
  readonly withoutUpsert: number;
  /** Number of pushes without an externalId, which the service assigns. */
  readonly withoutId: number;
  /** Number of bad lines. They are printed and not compared. */
  readonly leftOut: number;
  /** Number of bad lines without a valid externalId, so that their matter is unknown. */
  readonly leftOutUnnamed: number;
}

/** Maximum problems that are printed. */
const MAX_SHOWN = 20;

/** The problems of bad lines. The first ones are printed, so that a user can correct the lines. */
export interface Problems {
  /** Adds a problem. A line may have several. @param line from 1, as in an editor */
  add(line: number, message: string): void;
  has(line: number): boolean;
  /** Number of bad lines. */
  lines(): number;
  /** Prints the first problems on stderr. */
  report(): void;
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
    report: () => {
      for (const text of shown) note(stderr, text);
      if (count > MAX_SHOWN) note(stderr, `… and ${count - MAX_SHOWN} more`);
    },
  };
}
