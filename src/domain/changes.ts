/** The changes of one push, for the history of a matter. */
import { CONTENT_TEXTS, type Matter, type Party, partyKey } from './matter';

/**
 * A changed field. A type, status, priority, time or `deleted` is stored with its old and new value, and `parties` with
 * lists. Of the remaining fields, such as title and payload, only the name is stored.
 */
export interface FieldChange {
  readonly field: string;
  readonly from?: string | boolean | null;
  readonly to?: string | boolean | null;
  /** Added parties, each as `ROLE username`; at most MAX_PARTIES_SHOWN. `removed` and `unread` have the same form. */
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  /** Parties for which the matter became unread again. */
  readonly unread?: readonly string[];
}

/** Fields whose old and new values are stored as they are. */
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

/**
 * @param before undefined if the push created the matter; every field with a value then counts as changed
 */
export function changesOf(before: Matter | undefined, after: Matter): FieldChange[] {
  const isChanged = (field: keyof Matter) =>
    before ? before[field] !== after[field] : after[field] !== null && after[field] !== false;
  return [
    ...VALUED.filter(isChanged).map((field) => ({
      field,
      ...(before && { from: before[field] }),
      to: after[field],
    })),
    ...INSTANTS.filter(isChanged).map((field) => ({
      field,
      ...(before && { from: toIso(before[field]) }),
      to: toIso(after[field]),
    })),
    ...NAMED.filter(isChanged).map((field) => ({ field })),
    ...partyChange(before?.parties ?? [], after.parties),
  ];
}

function partyChange(before: readonly Party[], after: readonly Party[]): FieldChange[] {
  if (before === after || before.length + after.length === 0) return [];
  const unreadBefore = new Map(before.map((party) => [partyKey(party), party.unread]));
  const keysAfter = new Set(after.map(partyKey));
  const lists = {
    added: [...keysAfter].filter((key) => !unreadBefore.has(key)),
    removed: [...unreadBefore.keys()].filter((key) => !keysAfter.has(key)),
    unread: after
      .filter((party) => party.unread && unreadBefore.get(partyKey(party)) === false)
      .map(partyKey),
  };
  const shown = Object.entries(lists)
    .filter(([, keys]) => keys.length > 0)
    .map(([list, keys]) => [list, keys.slice(0, MAX_PARTIES_SHOWN)]);
  // If only display names or the order of parties changed, the change has no list.
  return [{ field: 'parties', ...Object.fromEntries(shown) }];
}

const toIso = (instant: number | null) =>
  instant === null ? null : new Date(instant).toISOString();
