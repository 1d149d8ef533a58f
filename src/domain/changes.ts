/** The changes of one push, for the history of a matter. */
import { CONTENT_TEXTS, type Matter, type Party, partyKey } from './matter';

/**
 * A changed field. The change of a state or time has the old and new value. The change of a free text, such as a title
 * or payload, has only the field name.
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

/** Fields whose old and new values are stored. */
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
const INSTANTS = ['deadlineAt', 'sourceUpdatedAt'] as const satisfies readonly (keyof Matter)[];
const MAX_PARTIES_SHOWN = 20;

/**
 * @param before undefined if the push created the matter; each field of the new matter with a value is then a change
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
  const was = new Map(before.map((party) => [partyKey(party), party.unread]));
  const is = new Set(after.map(partyKey));
  const lists = {
    added: [...is].filter((name) => !was.has(name)),
    removed: [...was.keys()].filter((name) => !is.has(name)),
    unread: after
      .filter((party) => party.unread && was.get(partyKey(party)) === false)
      .map(partyKey),
  };
  const shown = Object.entries(lists)
    .filter(([, names]) => names.length > 0)
    .map(([list, names]) => [list, names.slice(0, MAX_PARTIES_SHOWN)]);
  // If only display names or the order of parties changed, the change has no list.
  return [{ field: 'parties', ...Object.fromEntries(shown) }];
}

const toIso = (instant: number | null) =>
  instant === null ? null : new Date(instant).toISOString();
