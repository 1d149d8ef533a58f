/**
 * Writes to stdout and stderr; no other file does. It writes JSON for programs, and lines and tables for people.
 *
 * It escapes texts from callers and files: such a text must not move the cursor, look like a line of its own, or change
 * the direction of writing. Operators decide by what a command prints.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import Table from 'cli-table3';
import { escapeUnprintable, UNPRINTABLE } from '../../src/infra/log-output';

const RUN_OF_UNPRINTABLE = new RegExp(`(?:${UNPRINTABLE.source})+`, 'gu');
/** Clears the line of a progress bar. The bar then draws itself again in the next line. */
const CLEAR_LINE = '\r\u001b[K';
/** Moves the cursor to the top and clears everything below it, which does not flicker. */
const CLEAR_SCREEN = '\u001b[H\u001b[J';

export type Cell = string | number | boolean | null;

/** Writes one line of JSON. It waits if the reader of the output is slow. */
export function printJson(out: Writable, value: unknown): Promise<void> {
  // `printLine` escapes the unprintable characters that `JSON.stringify` leaves.
  return printLine(out, JSON.stringify(value));
}

/** Writes one line, with line feeds in it escaped. It waits if the reader of the output is slow. */
export async function printLine(out: Writable, line: string): Promise<void> {
  await write(out, `${escapeUnprintable(line)}\n`);
}

/** Writes several lines. */
export async function printLines(out: Writable, lines: readonly string[]): Promise<void> {
  await write(out, lines.map((line) => `${escapeUnprintable(line)}\n`).join(''));
}

/** Writes a record of a CSV file, which ends with CR LF. */
export async function printRecord(out: Writable, record: string): Promise<void> {
  await write(out, `${escapeUnprintable(record)}\r\n`);
}

/** Writes a byte order mark, by which spreadsheets recognize UTF-8. */
export const printByteOrderMark = (out: Writable): Promise<void> => write(out, '\ufeff');

/** Clears a terminal. */
export const clearScreen = (out: Writable): Promise<void> => write(out, CLEAR_SCREEN);

/** Writes a line for the operator to stderr, beside the results on stdout. */
export function note(stderr: Writable, line: string): void {
  stderr.write(`${escapeUnprintable(line)}\n`);
}

/** Like `note`, above a progress bar. */
export function noteAboveBar(stderr: Writable & { readonly isTTY?: boolean }, line: string): void {
  stderr.write(`${stderr.isTTY ? CLEAR_LINE : ''}${escapeUnprintable(line)}\n`);
}

/** Writes a text of the program itself that may have several lines: help or an error. */
export function writeText(out: Writable, text: string): void {
  out.write(text.split('\n').map(escapeUnprintable).join('\n'));
}

async function write(out: Writable, text: string): Promise<void> {
  if (!out.write(text)) await once(out, 'drain');
}

/** Replaces unprintable characters with a blank, for a cell of a table. */
export const printable = (text: string): string => text.replace(RUN_OF_UNPRINTABLE, ' ');

/** Characters that take two columns of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[^\0-\uffff]/u;
const widthOf = (character: string) => (WIDE.test(character) ? 2 : 1);

/** Like `printable`, and cuts the text if it is wider than this number of columns on a terminal. */
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

/** Prints a table with column titles. Wide (CJK) characters are aligned, and an absent value is "-". */
export async function printTable(
  out: Writable,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  await printLines(out, tableText(head, rows).split('\n'));
}

/** Formats a table as text. */
export function tableText(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const table = new Table({ ...PLAIN, head: [...head] });
  table.push(...rows.map((row) => row.map(toText)));
  return table.toString();
}

/** Prints names and values, one pair in each line. */
export async function printFields(out: Writable, fields: Record<string, Cell>): Promise<void> {
  const table = new Table(PLAIN);
  table.push(...Object.entries(fields).map(([name, value]) => [name, toText(value)]));
  await printLines(out, table.toString().split('\n'));
}

/** Tables have no borders and no colours, so that tools such as grep can process them. */
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
