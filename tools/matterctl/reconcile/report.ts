/** The differences on stdout: all of them as NDJSON, or a table of the first ones. */
import { type Cell, printJson, printLine, printTable } from '../print';
import type { Tool } from '../tool';
import type { Side } from './find';
import type { Entry } from './run-reconcile';

export interface Report {
  add(entry: Entry): Promise<void>;
  /** What was held back until now. */
  finish(): Promise<void>;
}

const HEAD = ['EXTERNAL ID', 'DIFFERENCE', 'YOURS → HERE', 'RE-PUSH'];
/** Characters of a value, and of both sides together. */
const MAX_VALUE = 30;
const MAX_SIDES = 120;

export function createJsonReport({ stdout }: Tool): Report {
  return { add: (entry) => printJson(stdout, entry), finish: async () => undefined };
}

/** @param limit most rows */
export function createTableReport({ stdout }: Tool, limit: number): Report {
  const rows: Cell[][] = [];
  let more = 0;
  return {
    add: async (entry) => {
      if (rows.length < limit) rows.push(toRow(entry));
      else more += 1;
    },
    finish: async () => {
      if (rows.length > 0) await printTable(stdout, HEAD, rows);
      if (more > 0) await printLine(stdout, `… and ${more} more: --json lists all`);
      if (rows.length + more > 0) await printLine(stdout, '');
    },
  };
}

function toRow({ externalId, difference, yours, here, repush }: Entry): Cell[] {
  return [externalId, difference, clip(sides(yours, here), MAX_SIDES), repush];
}

function sides(yours: Side, here: Side): string {
  if (!yours) return `not in the file → ${values(here)}`;
  if (!here) return `${values(yours)} → not here`;
  const names = Object.keys(yours);
  const told = names.map((name) => {
    const change = `${toText(yours[name])} → ${toText(here[name])}`;
    return names.length === 1 && name !== 'title' ? change : `${name}: ${change}`;
  });
  return told.join(', ');
}

const values = (side: Side) =>
  Object.values(side ?? {})
    .map(toText)
    .join(' ');

function toText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return clip(Array.isArray(value) ? value.join(' ') : String(value), MAX_VALUE);
}

function clip(text: string, max: number): string {
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
