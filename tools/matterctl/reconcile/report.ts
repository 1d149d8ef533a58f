/** Prints the result of a comparison: all differences as NDJSON or the first ones as a table, and the summary. */

import type { SideValues } from '../../../src/queries/reconcile/find';
import type { Obstacle } from '../../../src/queries/reconcile/repush';
import { shortTime, timeHead } from '../local-time';
import { type Cell, printJson, printLine, printTable } from '../print';
import type { Tool } from '../tool';
import type { Entry } from './run-reconcile';
import type { Source } from './source';
import type { DifferenceCounts } from './tally';

export interface Report {
  add(entry: Entry): Promise<void>;
  /** Prints what `add` has collected. */
  finish(): Promise<void>;
}

/** Maximum characters of a value, and of both sides together. */
const MAX_VALUE = 30;
const MAX_SIDES = 120;

export function createJsonReport({ stdout }: Tool): Report {
  return { add: (entry) => printJson(stdout, entry), finish: async () => undefined };
}

/** @param limit maximum rows */
export function createTableReport({ stdout, settings }: Tool, limit: number): Report {
  const timeZone = settings.timeZone();
  const head = ['EXTERNAL ID', 'DIFFERENCE', timeHead('YOURS → HERE', timeZone), 'RE-PUSH'];
  const rows: Cell[][] = [];
  let hidden = 0;
  return {
    add: async (entry) => {
      if (rows.length < limit) rows.push(toRow(entry, timeZone));
      else hidden += 1;
    },
    finish: async () => {
      if (rows.length > 0) await printTable(stdout, head, rows);
      if (hidden > 0) await printLine(stdout, `… and ${hidden} more: --json lists all`);
      if (rows.length + hidden > 0) await printLine(stdout, '');
    },
  };
}

function toRow({ externalId, difference, yours, here, repush }: Entry, timeZone: string): Cell[] {
  const both = sides(localSide(yours, timeZone), localSide(here, timeZone));
  return [externalId, difference, clip(both, MAX_SIDES), repush];
}

/** A side with its times in the time zone that the title of the column names. */
function localSide(side: SideValues, timeZone: string): SideValues {
  if (!side) return null;
  const fields = Object.entries(side).map(([name, value]) => {
    const isTime = name.endsWith('At') && typeof value === 'string';
    return [name, isTime ? shortTime(value, timeZone) : value];
  });
  return Object.fromEntries(fields);
}

function sides(yours: SideValues, here: SideValues): string {
  if (!yours) return `not in the file → ${values(here)}`;
  if (!here) return `${values(yours)} → not here`;
  const names = Object.keys(yours);
  const changes = names.map((name) => {
    const change = `${toText(yours[name])} → ${toText(here[name])}`;
    return names.length === 1 && name !== 'title' ? change : `${name}: ${change}`;
  });
  return changes.join(', ');
}

const values = (side: SideValues) =>
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

/** The summary of a comparison. */
export interface Summary extends DifferenceCounts {
  /** Path of the re-push file; null if it has no lines. */
  readonly repushFile: string | null;
  /** Number of matters without an upsert in a file of pushes. They were not compared. */
  readonly withoutUpsert: number;
  /** Number of pushes without an externalId, which the service assigns. They were not compared. */
  readonly withoutId: number;
  /** Number of bad lines. They were printed and not compared. */
  readonly leftOut: number;
  /** False if more than a tenth of the file could not be read, because the other lines then prove nothing. */
  readonly comparable: boolean;
  /** Duration in milliseconds, including the read of the file. */
  readonly elapsedMs: number;
}

const WHY: Readonly<Record<Obstacle, string>> = {
  NEWER_HERE: 'newer here than in the file (--overwrite-newer pushes them all the same)',
  ONLY_NEWER: 'differ in nothing but the time, which a push cannot set back',
  NEEDS_CONTENT:
    'the file would need a title, and a matterType or --default matterType=TODO (where the matter is here, bizStatus is enough)',
  DAMAGED_ID: 'a spreadsheet has changed the id: never pushed',
  LOOK_ALIKE: 'the matter is here under an id that looks the same: compare the ids',
};

export function summarize(
  counts: DifferenceCounts,
  { withoutUpsert, withoutId, leftOut, size }: Source,
  run: { readonly repushPath: string; readonly elapsedMs: number },
): Summary {
  const repushFile = total(counts.repushed) > 0 ? run.repushPath : null;
  const { elapsedMs } = run;
  const unread = leftOut + (counts.differences.DAMAGED_ID ?? 0);
  const comparable = unread * 10 <= size + leftOut;
  return { ...counts, repushFile, withoutUpsert, withoutId, leftOut, comparable, elapsedMs };
}

export const isEqual = ({ differences }: DifferenceCounts) => Object.keys(differences).length === 0;

/** The summary as lines of text. */
export function describeSummary(summary: Summary): string[] {
  const { compared, equal, differences, elapsedMs } = summary;
  const rows = [
    ...notComparable(summary),
    `${compared} matters compared, in ${(elapsedMs / 1_000).toFixed(1)} s`,
    row('equal', equal),
    ...Object.entries(differences).map(([kind, count]) => row(kind, count)),
  ];
  if (summary.leftOut > 0) rows.push(row('left out', summary.leftOut, 'bad lines, named above'));
  if (summary.withoutUpsert > 0) {
    rows.push(row('not compared', summary.withoutUpsert, 'the file holds no upsert of them'));
  }
  if (summary.withoutId > 0) {
    rows.push(row('not compared', summary.withoutId, 'pushes whose externalId the service made'));
  }
  return [...rows, ...repushNotes(summary)];
}

/** The first line of the summary if the file is not comparable; otherwise no line. */
export function notComparable({ comparable, compared, leftOut, differences }: Summary): string[] {
  if (comparable) return [];
  const unread = leftOut + (differences.DAMAGED_ID ?? 0);
  return [`NOT COMPARABLE: ${unread} of ${compared + leftOut} lines of the file cannot be read`];
}

function repushNotes(summary: Summary): string[] {
  const { repushFile, repushed, overwriting, untimed, wouldFail, notRepushed } = summary;
  const rows: string[] = [];
  if (repushFile !== null) {
    rows.push(`to push: ${repushFile}`, row('lines', total(repushed)));
    if (overwriting > 0) {
      const why = 'go over something newer here; its time stays, a push cannot set it back';
      rows.push(row('  of them', overwriting, why));
    }
    if (untimed > 0) {
      rows.push(
        row('  of them', untimed, 'have no sourceUpdatedAt: they replace newer states too'),
      );
    }
  }
  if (wouldFail > 0) {
    rows.push(row('would fail', wouldFail, 'the service would reject them: see above'));
  }
  const obstacles = Object.entries(notRepushed) as [Obstacle, number][];
  rows.push(...obstacles.map(([why, count]) => row('not to push', count, WHY[why])));
  return rows;
}

const total = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

const row = (name: string, count: number, why = '') =>
  `  ${name.padEnd(16)} ${String(count).padStart(9)}${why && `  ${why}`}`;
