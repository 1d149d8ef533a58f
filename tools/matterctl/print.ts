/** Results on stdout: JSON for programs, tables for people. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import Table from 'cli-table3';

/**
 * What in a stored text must not reach the terminal: control characters, and marks that turn the
 * direction of writing or begin a new line.
 */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

export type Cell = string | number | boolean | null;

/** Writes one line of JSON and waits while the reader is slower than we are. */
export async function printJson(out: Writable, value: unknown): Promise<void> {
  // JSON itself escapes only some of them.
  await printLine(out, escapeUnprintable(JSON.stringify(value)));
}

/** Writes one line and waits while the reader is slower than we are. */
export async function printLine(out: Writable, line: string): Promise<void> {
  if (!out.write(`${line}\n`)) await once(out, 'drain');
}

/** A stored text as part of a line. */
export const printable = (text: string) => text.replace(UNPRINTABLE, ' ');

/** Writes what cannot be printed as JSON would: `\u001b`. */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, (found) => Array.from(found, toEscape).join(''));
}

const toEscape = (unprintable: string) =>
  `\\u${unprintable.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A table with column titles. Wide (CJK) characters are aligned; absent values show as "-". */
export async function printTable(
  out: Writable,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  await printLine(out, tableText(head, rows));
}

/** The same as text. */
export function tableText(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const table = new Table({ ...PLAIN, head: [...head] });
  table.push(...rows.map((row) => row.map(toText)));
  return table.toString();
}

/** A table of names and values, one under the other. */
export async function printFields(out: Writable, fields: Record<string, Cell>): Promise<void> {
  const table = new Table(PLAIN);
  table.push(...Object.entries(fields).map(([name, value]) => [name, toText(value)]));
  await printLine(out, table.toString());
}

/** No borders and no colours: what is printed can be cut and grepped. */
const BORDERS = ['top', 'bottom', 'left', 'right', 'mid'] as const;
const JOINS = ['top-mid', 'top-left', 'top-right', 'bottom-mid', 'bottom-left', 'bottom-right'];
const MID_JOINS = ['left-mid', 'mid-mid', 'right-mid'];
const PLAIN = {
  chars: {
    ...Object.fromEntries([...BORDERS, ...JOINS, ...MID_JOINS].map((part) => [part, ''])),
    middle: '  ',
  },
  style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
};

function toText(value: Cell): string {
  return value === null || value === '' ? '-' : printable(String(value));
}
