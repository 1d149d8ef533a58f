/**
 * Creates a full upsert from a matter, and compares the content of two matters. Both functions use the same list of
 * fields, so that a full upsert corrects every difference that the comparison finds.
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
  /** ISO-8601, local time in the portal's time zone. */
  readonly deadlineAt: string | null;
  /** ISO-8601 UTC; absent if the `sourceUpdatedAt` of the matter is null. */
  readonly sourceUpdatedAt?: string;
  readonly replaceParties: true;
  readonly parties: readonly PartyRef[];
}

/** The derived fields are compared too: every upsert derives these fields again, and so corrects a wrong value. */
const DERIVED = ['phase', 'priorityRank'] as const;

export type ContentField =
  | keyof MatterContent
  | (typeof DERIVED)[number]
  | 'matterType'
  | 'title'
  | 'parties';

/**
 * @param formatLocal formats an instant (epoch milliseconds) as a local date-time in the portal's time zone
 * @returns an upsert with the content of `matter`. When the upsert is applied, each party that the matter in the ledger
 *   already has keeps its read state
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
 * @returns the content fields that differ. `bizStatus`, `externalStatusCode`, `sourceUpdatedAt` and `deleted` are not
 *   compared. Parties are compared as a set of usernames and roles: order, display names and read states do not matter
 */
export function contentDifferences(a: Matter, b: Matter): ContentField[] {
  // `phase` depends on `bizStatus` and `deleted`, so the derived fields are compared only if both are equal.
  const derived = a.bizStatus === b.bizStatus && a.deleted === b.deleted ? DERIVED : [];
  const fields = ['matterType', 'title', ...CONTENT_FIELDS, ...derived] as const;
  const differing: ContentField[] = fields.filter(
    // A missing field counts as null: a document that was edited manually may lack a field.
    (field) => field !== 'externalStatusCode' && (a[field] ?? null) !== (b[field] ?? null),
  );
  return haveSameParties(a.parties, b.parties) ? differing : [...differing, 'parties'];
}

/** Whether two lists name the same users in the same roles. */
export function haveSameParties(a: readonly PartyRef[], b: readonly PartyRef[]): boolean {
  const [ours, theirs] = [new Set(a.map(partyKey)), new Set(b.map(partyKey))];
  return ours.size === theirs.size && [...ours].every((name) => theirs.has(name));
}
