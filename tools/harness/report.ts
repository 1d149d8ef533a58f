/** What a measurement is told as: a table with its goals, and a file that is kept. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Table from 'cli-table3';

export interface Row {
  readonly what: string;
  readonly seen: string;
  /** Absent where a figure is there to be read beside the others. */
  readonly goal?: string;
  readonly passes?: boolean;
}

export interface Measured {
  readonly rows: readonly Row[];
  readonly figures: Readonly<Record<string, unknown>>;
}

/** What all measurements are run with. */
export interface MeasureOptions {
  /** The project's folder; dist/ must be built. */
  readonly root: string;
  /** A third of the time: shows that it works, not how well. */
  readonly quick: boolean;
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** @returns the row of a number that must not be above, or below, its goal */
export function goalRow(
  what: string,
  { value, seen, most, least }: { value: number; seen: string; most?: number; least?: number },
  unit = '',
): Row {
  const passes = value <= (most ?? Number.POSITIVE_INFINITY) && value >= (least ?? -Infinity);
  const goal = most !== undefined ? `<= ${most}${unit}` : `>= ${least}${unit}`;
  return { what, seen, goal, passes };
}

/** @returns the row of a number that must be zero */
export function noneRow(what: string, value: number): Row {
  return goalRow(what, { value, seen: String(value), most: 0 });
}

/** A table for people; its first column says what the others are. */
export function textTable(
  lines: readonly (readonly (string | number)[])[],
  head: readonly string[] = [],
): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...lines.map((line) => [...line]));
  return table.toString();
}

/** Counts by name, a line each; empty where there are none. */
export function countLines(counts: Readonly<Record<string, number>>): string {
  const lines = Object.entries(counts).map(([name, number]) => `${number} ${name}`);
  return lines.join('\n');
}

/** What a command ends with. */
export interface Report {
  readonly passed: boolean;
  /** For machines. */
  readonly summary: unknown;
  /** For people. */
  readonly text: string;
}

/** @param keepIn path of a file in which it is kept too */
export function loadReport({ rows, figures }: Measured, keepIn: string | undefined): Report {
  const passed = rows.every((row) => row.passes !== false);
  const summary = { date: new Date().toISOString(), passed, rows, figures };
  if (keepIn !== undefined) keepResults(keepIn, summary);
  const lines = rows.map(({ what, seen, goal = '', passes }) => [
    ...[what, seen, goal],
    passes === undefined ? '' : passes ? 'pass' : 'FAIL',
  ]);
  return { passed, summary, text: textTable(lines, ['what', 'seen', 'goal', '']) };
}

/** @param path of the file in which they are kept; its folder is made if missing */
export function keepResults(path: string, results: Readonly<Record<string, unknown>>): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
}
