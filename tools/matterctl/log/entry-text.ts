/** Texts for a push-log entry: its result, its matter, and what it changed. */

import type { FieldChange } from '../../../src/domain/changes';
import { shortTime } from '../local-time';
import type { ShownEntry } from '../source/sources';

/** The outcome or the reason of a push, or its state if it has neither; and whether it was replayed or reused a key. */
export function resultText({ state, outcome, reason, mark }: ShownEntry): string {
  const notes = [state === 'REPLAYED' && 'replayed', mark === 'KEY_REUSED' && 'key reused'];
  const noted = notes.filter((note) => note !== false).join(', ');
  const result = outcome ?? reason ?? state;
  return noted === '' ? result : `${result} (${noted})`;
}

/**
 * Milliseconds from receipt to settlement; null if the push is not settled. At least zero: the two clocks may differ.
 */
export function totalTime({ receivedAt, settledAt }: ShownEntry): number | null {
  if (settledAt === null) return null;
  return Math.max(0, Date.parse(settledAt) - Date.parse(receivedAt));
}

/**
 * `system/externalId`; only the system if the log does not know the matter, for example because the body was invalid.
 */
export function matterName({ systemCode, externalId }: ShownEntry): string {
  const system = systemCode ?? '-';
  return externalId === null ? system : `${system}/${externalId}`;
}

/** Why a push was stale: its own time and the newer time of the matter. */
export function staleText({ stale }: ShownEntry, timeZone: string): string | null {
  if (!stale) return null;
  const [sent, stored] = [stale.sent, stale.stored].map((at) => shortTime(at, timeZone));
  return `ignored: sent ${sent} older than ${stored}`;
}

/** Maximum parties of one list in the short form. */
const MAX_PARTIES = 5;

/** All changes in one line, such as `bizStatus PENDING → DONE, title, +ASSIGNEE li.lei`. */
export function shortChanges(changes: readonly FieldChange[], timeZone: string): string {
  return changes.flatMap((change) => shortChange(change, timeZone)).join(', ');
}

function shortChange(change: FieldChange, timeZone: string): string[] {
  const { field, added = [], removed = [], unread = [] } = change;
  const parties = [
    ...few(added.map((name) => `+${name}`)),
    ...few(removed.map((name) => `-${name}`)),
    ...few(unread.map((name) => `unread ${name}`)),
  ];
  if (parties.length > 0) return parties;
  const values = valuesOf(change, timeZone);
  return [values === undefined ? field : `${field} ${values}`];
}

/** The changes in several lines: one for each field, and one for each list of parties. */
export function changeLines(changes: readonly FieldChange[], timeZone: string): string[] {
  return changes.flatMap((change) => {
    const { field, added, removed, unread } = change;
    if (added || removed || unread) {
      const lists = { added, removed, 'unread again': unread };
      return Object.entries(lists).flatMap(([name, list]) =>
        list ? [`${field} ${name}: ${list.join(', ')}`] : [],
      );
    }
    const values = valuesOf(change, timeZone);
    return [values === undefined ? field : `${field}: ${values}`];
  });
}

/** The old and the new value. @returns undefined if the log has only the name of the field */
function valuesOf(change: FieldChange, timeZone: string): string | undefined {
  const { field, from, to } = change;
  if (to === undefined) return undefined;
  const text = (value: FieldChange['to']) => {
    if (value === null || value === undefined) return '-';
    return field.endsWith('At') ? shortTime(String(value), timeZone) : String(value);
  };
  return 'from' in change ? `${text(from)} → ${text(to)}` : text(to);
}

function few(names: readonly string[]): readonly string[] {
  return names.length <= MAX_PARTIES ? names : [...names.slice(0, MAX_PARTIES), '…'];
}
