/**
 * The only writer to stdout and stderr: JSON for programs, lines and tables for people. What callers of the service
 * sent, and what files hold, is escaped here: a text in it must not move the cursor, begin a line of its own or turn the
 * direction of writing. An operator decides by what a command prints.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import Table from 'cli-table3';
import { escapeUnprintable, UNPRINTABLE } from '../../src/runtime/unprintable';

const RUN_OF_UNPRINTABLE = new RegExp(`(?:${UNPRINTABLE.source})+`, 'gu');
/** Takes away a progress bar, which draws itself again below. */
const CLEAR_LINE = '\r\u001b[K';
/** Moves the cursor to the top and clears everything below it: without a flicker. */
const CLEAR_SCREEN = '\u001b[H\u001b[J';

export type Cell = string | number | boolean | null;

/** Writes one line of JSON and waits while the reader is slower than we are. */
export function printJson(out: Writable, value: unknown): Promise<void> {
  // JSON itself escapes only some of them.
  return printLine(out, JSON.stringify(value));
}

/** Writes one line and waits while the reader is slower than we are. A line feed in it is escaped. */
export async function printLine(out: Writable, line: string): Promise<void> {
  await write(out, `${escapeUnprintable(line)}\n`);
}

/** Writes several of them. */
export async function printLines(out: Writable, lines: readonly string[]): Promise<void> {
  await write(out, lines.map((line) => `${escapeUnprintable(line)}\n`).join(''));
}

/** Writes a record of a CSV file, whose end is CR LF. */
export async function printRecord(out: Writable, record: string): Promise<void> {
  await write(out, `${escapeUnprintable(record)}\r\n`);
}

/** Writes a byte order mark, which tells spreadsheets that a file is UTF-8. */
export const printByteOrderMark = (out: Writable): Promise<void> => write(out, '\ufeff');

/** Clears a terminal. */
export const clearScreen = (out: Writable): Promise<void> => write(out, CLEAR_SCREEN);

/** Writes a remark for the operator: one line, beside the results. */
export function note(stderr: Writable, line: string): void {
  stderr.write(`${escapeUnprintable(line)}\n`);
}

/** The same while a progress bar is shown, which is one line further below then. */
export function noteAboveBar(stderr: Writable & { readonly isTTY?: boolean }, line: string): void {
  stderr.write(`${stderr.isTTY ? CLEAR_LINE : ''}${escapeUnprintable(line)}\n`);
}

/** Writes texts of several lines that the program itself is made of: its help and its errors. */
export function writeText(out: Writable, text: string): void {
  out.write(text.split('\n').map(escapeUnprintable).join('\n'));
}

async function write(out: Writable, text: string): Promise<void> {
  if (!out.write(text)) await once(out, 'drain');
}

/** A text as a part of a table or of columns, in which what cannot be printed is a blank. */
export const printable = (text: string): string => text.replace(RUN_OF_UNPRINTABLE, ' ');

/** Characters that take two columns of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[^\0-\uffff]/u;
const widthOf = (character: string) => (WIDE.test(character) ? 2 : 1);

/** The same as `printable`, cut where it takes more than `columns` of a terminal. */
export function cut(text: string, columns: number): string {
  const characters = Array.from(printable(text));
  const width = characters.reduce((sum, character) => sum + widthOf(character), 0);
  if (width <= columns) return characters.join('');
  let left = columns - 1;
  const end = characters.findIndex((character) => {
    left -= widthOf(character);
    return left < 0;
  });
  return `${characters.slice(0, end).join('')}…`;
}

/** A table with column titles. Wide (CJK) characters are aligned; absent values show as "-". */
export async function printTable(
  out: Writable,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  await printLines(out, tableText(head, rows).split('\n'));
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
  await printLines(out, table.toString().split('\n'));
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
