/** The report of a measurement: a table with goals, and a results file. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Table from 'cli-table3';

export interface ReportRow {
  readonly what: string;
  readonly seen: string;
  /** Absent for a figure without a goal. */
  readonly goal?: string;
  readonly passes?: boolean;
}

export interface Measured {
  readonly rows: readonly ReportRow[];
  readonly figures: Readonly<Record<string, unknown>>;
}

/** The options of all measurements. */
export interface MeasureOptions {
  /** The project's folder; dist/ must be built. */
  readonly root: string;
  /** A third of the time: shows that the tool works; the results are not kept. */
  readonly quick: boolean;
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** @returns the row of a number with a maximum or a minimum */
export function goalRow(
  what: string,
  { value, seen, max, min }: { value: number; seen: string; max?: number; min?: number },
  unit = '',
): ReportRow {
  const passes = value <= (max ?? Number.POSITIVE_INFINITY) && value >= (min ?? -Infinity);
  const goal = max !== undefined ? `<= ${max}${unit}` : `>= ${min}${unit}`;
  return { what, seen, goal, passes };
}

/** @returns the row of a number that must be zero */
export function noneRow(what: string, value: number): ReportRow {
  return goalRow(what, { value, seen: String(value), max: 0 });
}

/** A table for people; its first column labels the rows. */
export function textTable(
  lines: readonly (readonly (string | number)[])[],
  head: readonly string[] = [],
): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...lines.map((line) => [...line]));
  return table.toString();
}

/** Counts by name, a line for each; empty without counts. */
export function countLines(counts: Readonly<Record<string, number>>): string {
  const lines = Object.entries(counts).map(([name, number]) => `${number} ${name}`);
  return lines.join('\n');
}

/** The result of a command. */
export interface BenchReport {
  readonly passed: boolean;
  /** For machines. */
  readonly summary: unknown;
  /** For people. */
  readonly text: string;
}

/** @param keepIn path of the results file; undefined: the results are not kept */
export function loadReport({ rows, figures }: Measured, keepIn: string | undefined): BenchReport {
  const passed = rows.every((row) => row.passes !== false);
  const summary = { date: new Date().toISOString(), passed, rows, figures };
  if (keepIn !== undefined) keepResults(keepIn, summary);
  const lines = rows.map(({ what, seen, goal = '', passes }) => [
    ...[what, seen, goal],
    passes === undefined ? '' : passes ? 'pass' : 'FAIL',
  ]);
  return { passed, summary, text: textTable(lines, ['what', 'seen', 'goal', '']) };
}

/** @param path of the results file; its folder is created if missing */
export function keepResults(path: string, results: Readonly<Record<string, unknown>>): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
}
