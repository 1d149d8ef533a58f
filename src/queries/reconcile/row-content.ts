/** The content that a row states, beside that of the ledger. Pure; served to the console too. */
import { type ContentField, haveSameParties, nameOf } from '../../domain/full-upsert';
import { CONTENT_FIELDS, type Matter, type PartyRef } from '../../domain/matter';
import type { Row } from './expected';

/** Content as a row states it: a field that is absent is not compared. */
export type RowContent = Partial<Pick<Matter, ContentField>>;

const TEXTS = ['matterType', 'title', ...CONTENT_FIELDS] as const;

/** @param held a time that the row leaves open is that of the ledger, where that lies within it */
export function contentOf(row: Row, held: Matter | undefined): RowContent {
  const { pushed, deadlineAt, steps } = row;
  const texts = TEXTS.filter((field) => field !== 'externalStatusCode' && field !== 'deadlineAt')
    .filter((field) => pushed[field] !== undefined)
    .map((field) => [field, field === 'bizType' ? trimmed(pushed[field]) : pushed[field]]);
  const parties = partiesOf(row, held);
  return {
    ...Object.fromEntries(texts),
    ...(deadlineAt !== undefined && {
      deadlineAt: settled(deadlineAt, held?.deadlineAt, steps?.deadlineAt),
    }),
    ...(parties && { parties }),
  };
}

/** The fields of content that a row states otherwise than the ledger. */
export function rowDifferences(content: RowContent, held: Matter): ContentField[] {
  const fields = Object.keys(content) as (keyof RowContent)[];
  return fields.filter((field) =>
    field === 'parties'
      ? !haveSameParties(content.parties ?? [], held.parties)
      : (content[field] ?? null) !== (held[field] ?? null),
  );
}

/** @returns the ledger's own time where it lies within the step of the file's */
export function settled<T extends number | null | undefined>(
  theirs: T,
  ours: number | null | undefined,
  step = 1,
): T | number {
  if (typeof theirs !== 'number' || typeof ours !== 'number') return theirs;
  return ours >= theirs && ours < theirs + step ? ours : theirs;
}

/** A blank type is none. */
const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() || null : value);

/** The parties after the row: the service would merge those that it states with those that are there. */
function partiesOf(row: Row, held: Matter | undefined): Matter['parties'] | undefined {
  const stated = statedParties(row, held);
  if (!stated) return undefined;
  const { parties, replaces } = stated;
  const kept = replaces ? [] : (held?.parties ?? []);
  const byName = new Map([...kept, ...parties].map((party) => [nameOf(party), party]));
  return [...byName.values()].map((party) => ({ displayName: '', unread: true, ...party }));
}

interface StatedParties {
  readonly parties: readonly PartyRef[];
  readonly replaces: boolean;
}

/** As an upsert of the row has to say it. A column of assignees says nothing of the other roles: they stay. */
export function statedParties(row: Row, held: Matter | undefined): StatedParties | undefined {
  const { parties, replaceParties } = row.pushed;
  const named = Array.isArray(parties) ? parties.filter(isParty) : undefined;
  if (!row.assignees) return named && { parties: named, replaces: replaceParties === true };
  const assignees = row.assignees.map((username) => ({ username, partyRole: 'ASSIGNEE' as const }));
  const others = (named ?? held?.parties ?? []).filter(({ partyRole }) => partyRole !== 'ASSIGNEE');
  const kept = others.map(({ username, partyRole }) => ({ username, partyRole }));
  return { parties: [...assignees, ...kept], replaces: true };
}

/** What is none is left to the service, which rejects it. */
const isParty = (value: unknown): value is PartyRef =>
  typeof Object(value).username === 'string' && typeof Object(value).partyRole === 'string';
