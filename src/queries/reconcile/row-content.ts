/** Compares a row of a file with the ledger. This module must run in a browser (`browser/console`). */
import { type ContentField, haveSameParties } from '../../domain/full-upsert';
import { CONTENT_FIELDS, type Matter, type PartyRef, type PartyRemoval } from '../../domain/matter';
import { changeParties, removalTest, removeParties } from '../../domain/parties';
import type { Row } from './expected';

/** An absent field is not compared. */
export type RowContent = Partial<Pick<Matter, ContentField>>;

const TEXTS = ['matterType', 'title', ...CONTENT_FIELDS] as const;

export function contentOf(row: Row, stored: Matter | undefined): RowContent {
  const { pushed, deadlineAt, precisions } = row;
  const texts = TEXTS.filter((field) => field !== 'externalStatusCode' && field !== 'deadlineAt')
    .filter((field) => pushed[field] !== undefined)
    .map((field) => [field, field === 'bizType' ? trimmed(pushed[field]) : pushed[field]]);
  const parties = partiesOf(row, stored);
  return {
    ...Object.fromEntries(texts),
    ...(deadlineAt !== undefined && {
      deadlineAt: ledgerTimeIfEqual(deadlineAt, stored?.deadlineAt, precisions?.deadlineAt),
    }),
    ...(parties && { parties }),
  };
}

export function rowDifferences(content: RowContent, stored: Matter): ContentField[] {
  const fields = Object.keys(content) as (keyof RowContent)[];
  return fields.filter((field) =>
    field === 'parties'
      ? !haveSameParties(content.parties ?? [], stored.parties)
      : (content[field] ?? null) !== (stored[field] ?? null),
  );
}

/**
 * @param theirs time of the file
 * @param ours time of the ledger
 * @param precision precision of `theirs` in milliseconds
 * @returns `ours` if both times are equal within the precision, otherwise `theirs`
 */
export function ledgerTimeIfEqual<T extends number | null | undefined>(
  theirs: T,
  ours: number | null | undefined,
  precision = 1,
): T | number {
  if (typeof theirs !== 'number' || typeof ours !== 'number') return theirs;
  return ours >= theirs && ours < theirs + precision ? ours : theirs;
}

/** The service trims a bizType, and stores a blank bizType as null. */
const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() || null : value);

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function partiesOf(row: Row, stored: Matter | undefined): Matter['parties'] | undefined {
  const stated = statedParties(row, stored);
  const { removeParties: removals } = row.pushed;
  if (!stated && !Array.isArray(removals)) return undefined;
  const before = { parties: stored?.parties ?? [], pastHandlers: [] };
  const merged = stated ? changeParties(before, stated.parties, stated.replaces, NO_NAMES) : before;
  return Array.isArray(removals)
    ? removeParties(merged, removals.filter(isRemoval)).parties
    : merged.parties;
}

interface StatedParties {
  readonly parties: readonly PartyRef[];
  readonly replaces: boolean;
}

/** The `assignees` of the row replace all ASSIGNEEs of the matter. */
export function statedParties(row: Row, stored: Matter | undefined): StatedParties | undefined {
  const { parties, replaceParties, removeParties: removals } = row.pushed;
  const named = Array.isArray(parties) ? parties.filter(isParty) : undefined;
  if (!row.assignees) return named && { parties: named, replaces: replaceParties === true };
  const assignees = row.assignees.map((username) => ({ username, partyRole: 'ASSIGNEE' as const }));
  const others = (named ?? stored?.parties ?? []).filter(
    ({ partyRole }) => partyRole !== 'ASSIGNEE',
  );
  const kept = others.map(({ username, partyRole }) => ({ username, partyRole }));
  const isRemoved = removalTest(Array.isArray(removals) ? removals.filter(isRemoval) : []);
  return { parties: [...assignees, ...kept].filter((it) => !isRemoved(it)), replaces: true };
}

const isParty = (value: unknown): value is PartyRef =>
  isRemoval(value) && typeof value.partyRole === 'string';

const isRemoval = (value: unknown): value is PartyRemoval =>
  typeof Object(value).username === 'string';
