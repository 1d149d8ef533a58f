/** The changes of one push, for the history of a matter. */
import { CONTENT_TEXTS, type Matter, type Party, partyKey } from './matter';

/** `added`, `removed` and `unread` contain at most MAX_PARTIES_SHOWN parties each, as `ROLE username`. */
export interface FieldChange {
  readonly field: string;
  readonly from?: string | boolean | null;
  readonly to?: string | boolean | null;
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  /** Parties for which the matter became unread again. */
  readonly unread?: readonly string[];
}

/** Fields whose old and new values are stored without conversion. */
const VALUED = [
  'bizStatus',
  'externalStatusCode',
  'matterType',
  'bizType',
  'priority',
  'deleted',
] as const satisfies readonly (keyof Matter)[];
const VALUED_NAMES: readonly string[] = VALUED;
/** Fields of which only the name is stored. */
const NAMED = ['title', ...CONTENT_TEXTS.filter((field) => !VALUED_NAMES.includes(field))] as const;
/** Fields whose old and new values are stored as ISO-8601 in UTC. */
const INSTANTS = ['deadlineAt', 'sourceUpdatedAt'] as const satisfies readonly (keyof Matter)[];
const MAX_PARTIES_SHOWN = 20;

export function changesOf(before: Matter | undefined, after: Matter): FieldChange[] {
  const isChanged = (field: keyof Matter) =>
    before ? before[field] !== after[field] : after[field] !== null && after[field] !== false;
  // The loops are several times faster than `filter`.
  const changes: FieldChange[] = [];
  for (const field of VALUED) {
    if (!isChanged(field)) continue;
    const to = after[field];
    changes.push(before ? { field, from: before[field], to } : { field, to });
  }
  for (const field of INSTANTS) {
    if (!isChanged(field)) continue;
    const to = toIso(after[field]);
    changes.push(before ? { field, from: toIso(before[field]), to } : { field, to });
  }
  for (const field of NAMED) {
    if (isChanged(field)) changes.push({ field });
  }
  const ofParties = partyChange(before?.parties ?? [], after.parties);
  if (ofParties) changes.push(ofParties);
  return changes;
}

function partyChange(before: readonly Party[], after: readonly Party[]): FieldChange | undefined {
  if (before === after || before.length + after.length === 0) return undefined;
  const unreadBefore = new Map(before.map((party) => [partyKey(party), party.unread]));
  const added: string[] = [];
  const unread: string[] = [];
  const removed = new Set(unreadBefore.keys());
  for (const party of after) {
    const key = partyKey(party);
    removed.delete(key);
    if (!unreadBefore.has(key)) added.push(key);
    else if (party.unread && unreadBefore.get(key) === false) unread.push(key);
  }
  return {
    field: 'parties',
    ...(added.length > 0 && { added: shown(added) }),
    ...(removed.size > 0 && { removed: shown([...removed]) }),
    ...(unread.length > 0 && { unread: shown(unread) }),
  };
}

const shown = (keys: readonly string[]) => keys.slice(0, MAX_PARTIES_SHOWN);

const toIso = (instant: number | null) =>
  instant === null ? null : new Date(instant).toISOString();
