/** Words for an entry of the push log: its result, its matter, and what it changed. */

import type { FieldChange } from '../../../src/domain/changes';
import { shortTime } from '../local-time';
import type { ShownEntry } from '../source/sources';

/** The outcome or reason, or that it is not settled; and what is special about it. */
export function resultText({ state, outcome, reason, mark }: ShownEntry): string {
  const notes = [state === 'REPLAYED' && 'replayed', mark === 'KEY_REUSED' && 'key reused'];
  const told = notes.filter((note) => note !== false).join(', ');
  const result = outcome ?? reason ?? state;
  return told === '' ? result : `${result} (${told})`;
}

/** Milliseconds from receipt to settlement; null: not settled. Two machines may have said when. */
export function totalTime({ receivedAt, settledAt }: ShownEntry): number | null {
  if (settledAt === null) return null;
  return Math.max(0, Date.parse(settledAt) - Date.parse(receivedAt));
}

/** Only the system where the log does not know the matter: of most rejected bodies. */
export function matterName({ systemCode, externalId }: ShownEntry): string {
  const system = systemCode ?? '-';
  return externalId === null ? system : `${system}/${externalId}`;
}

/** How a push was ignored: which instant lost against which. */
export function staleText({ stale }: ShownEntry, timeZone: string): string | null {
  if (!stale) return null;
  const [sent, stored] = [stale.sent, stale.stored].map((at) => shortTime(at, timeZone));
  return `ignored: sent ${sent} older than ${stored}`;
}

/** Parties of one list in the short form. */
const MAX_PARTIES = 5;

/** For a line: `bizStatus PENDING → DONE, title, +ASSIGNEE li.lei`. */
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

/** For a block: one line a field, and one for each list of parties. */
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

/** @returns undefined where only the name of the field was kept */
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
