/** What a push changed in its matter, in words. */
import type { FieldChange } from '../../../src/domain/changes';
import { shortTime } from './local-time';

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
