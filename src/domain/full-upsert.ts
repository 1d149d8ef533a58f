/**
 * Creates a full upsert from a matter, and compares two matters. Both use one list of fields, so that a full upsert
 * removes every difference.
 */
import {
  CONTENT_FIELDS,
  type Matter,
  type MatterContent,
  type MatterType,
  type PartyRef,
  partyKey,
} from './matter';

/** The body of an upsert that sets every field. */
export interface FullUpsert extends Omit<MatterContent, 'deadlineAt'> {
  readonly externalId: string;
  readonly matterType: MatterType;
  readonly title: string;
  readonly bizStatus: string;
  /** ISO-8601, local in the portal's zone. */
  readonly deadlineAt: string | null;
  /** ISO-8601 UTC; absent if the matter has no watermark. */
  readonly sourceUpdatedAt?: string;
  readonly replaceParties: true;
  readonly parties: readonly PartyRef[];
}

/** Derived fields are compared too, because any upsert derives them again. */
const DERIVED = ['phase', 'priorityRank'] as const;

export type ContentField =
  | keyof MatterContent
  | (typeof DERIVED)[number]
  | 'matterType'
  | 'title'
  | 'parties';

/**
 * @param formatLocal writes an instant (epoch milliseconds) as a date-time of the portal's zone
 * @returns the upsert that gives the matter of this key the content of `matter`, whatever it had before. It does not set
 *   read states: a remaining party keeps its read state
 */
export function toFullUpsert(matter: Matter, formatLocal: (instant: number) => string): FullUpsert {
  const { externalId, matterType, title, bizStatus, deadlineAt, sourceUpdatedAt } = matter;
  const content = CONTENT_FIELDS.map((field) => [field, matter[field]]);
  return {
    matterType,
    externalId,
    title,
    ...(Object.fromEntries(content) as MatterContent),
    bizStatus,
    deadlineAt: deadlineAt === null ? null : formatLocal(deadlineAt),
    ...(sourceUpdatedAt !== null && { sourceUpdatedAt: new Date(sourceUpdatedAt).toISOString() }),
    replaceParties: true,
    parties: matter.parties.map(({ username, partyRole }) => ({ username, partyRole })),
  };
}

/**
 * @returns the content fields that differ, without status, watermark and deletion. Parties are compared as a set of
 *   usernames and roles: their order, display names and read states do not matter
 */
export function contentDifferences(a: Matter, b: Matter): ContentField[] {
  const derived = a.bizStatus === b.bizStatus && a.deleted === b.deleted ? DERIVED : [];
  const fields = ['matterType', 'title', ...CONTENT_FIELDS, ...derived] as const;
  const differing: ContentField[] = fields.filter(
    // A document that was edited manually may lack a field.
    (field) => field !== 'externalStatusCode' && (a[field] ?? null) !== (b[field] ?? null),
  );
  return haveSameParties(a.parties, b.parties) ? differing : [...differing, 'parties'];
}

/** Whether two lists name the same users in the same roles. */
export function haveSameParties(a: readonly PartyRef[], b: readonly PartyRef[]): boolean {
  const [ours, theirs] = [new Set(a.map(partyKey)), new Set(b.map(partyKey))];
  return ours.size === theirs.size && [...ours].every((name) => theirs.has(name));
}
