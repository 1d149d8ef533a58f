/** What a measurement is told as: a table with its goals, and a file that is kept. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Table from 'cli-table3';
import type { Report } from './report';

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

function tableOf(rows: readonly Row[]): string {
  const table = new Table({ head: ['what', 'seen', 'goal', ''], style: { head: [], border: [] } });
  for (const { what, seen, goal = '', passes } of rows) {
    table.push([what, seen, goal, passes === undefined ? '' : passes ? 'pass' : 'FAIL']);
  }
  return table.toString();
}

/** @param keepIn path of a file in which it is kept too */
export function loadReport({ rows, figures }: Measured, keepIn: string | undefined): Report {
  const passed = rows.every((row) => row.passes !== false);
  const summary = { date: new Date().toISOString(), passed, rows, figures };
  if (keepIn !== undefined) {
    mkdirSync(dirname(keepIn), { recursive: true });
    writeFileSync(keepIn, `${JSON.stringify(summary, null, 2)}\n`);
  }
  return { passed, summary, text: tableOf(rows) };
}
