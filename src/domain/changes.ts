/** What one push changed in a matter, in a form that can be kept: for the history of a matter. */
import { CONTENT_TEXTS, type Matter, type Party } from './matter';

/**
 * A field that a push changed. Values are given where they are states and times; texts that may
 * hold anything (titles, contents, payloads) are only named.
 */
export interface FieldChange {
  readonly field: string;
  readonly from?: string | boolean | null;
  readonly to?: string | boolean | null;
  /** Parties that joined, left, or became unread again, as `ROLE username`; at most 20 each. */
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly unread?: readonly string[];
}

const VALUED = [
  'bizStatus',
  'externalStatusCode',
  'matterType',
  'bizType',
  'priority',
  'deleted',
] as const satisfies readonly (keyof Matter)[];
const VALUED_NAMES: readonly string[] = VALUED;
const NAMED = ['title', ...CONTENT_TEXTS.filter((field) => !VALUED_NAMES.includes(field))] as const;
const INSTANTS = ['deadlineAt', 'sourceUpdatedAt'] as const satisfies readonly (keyof Matter)[];
const MAX_PARTIES_SHOWN = 20;

/** @param before undefined: the push created the matter, and only what it set is told */
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
  const was = new Map(before.map((party) => [nameOf(party), party.unread]));
  const is = new Set(after.map(nameOf));
  const lists = {
    added: [...is].filter((name) => !was.has(name)),
    removed: [...was.keys()].filter((name) => !is.has(name)),
    unread: after.filter((party) => party.unread && was.get(nameOf(party)) === false).map(nameOf),
  };
  const told = Object.entries(lists)
    .filter(([, names]) => names.length > 0)
    .map(([list, names]) => [list, names.slice(0, MAX_PARTIES_SHOWN)]);
  // Nobody in any list: display names or the order changed.
  return [{ field: 'parties', ...Object.fromEntries(told) }];
}

const nameOf = ({ partyRole, username }: Party) => `${partyRole} ${username}`;
const toIso = (instant: number | null) =>
  instant === null ? null : new Date(instant).toISOString();
