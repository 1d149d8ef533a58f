/**
 * A full upsert made from a matter, and the fields in which two matters differ. Both take their fields
 * from one list, so that a full upsert mends every difference.
 */
import {
  CONTENT_FIELDS,
  type Matter,
  type MatterContent,
  type MatterType,
  type PartyRef,
} from './matter';

/** The body of an upsert that leaves nothing of the matter unsaid. */
export interface FullUpsert extends Omit<MatterContent, 'deadlineAt'> {
  readonly externalId: string;
  readonly matterType: MatterType;
  readonly title: string;
  readonly bizStatus: string;
  /** ISO-8601, local in the portal's zone. */
  readonly deadlineAt: string | null;
  /** ISO-8601 UTC; absent where the matter has no watermark. */
  readonly sourceUpdatedAt?: string;
  readonly replaceParties: true;
  readonly parties: readonly PartyRef[];
}

/** What is derived from other fields counts too: any upsert derives it anew. */
const DERIVED = ['phase', 'priorityRank'] as const;

export type ContentField =
  | keyof MatterContent
  | (typeof DERIVED)[number]
  | 'matterType'
  | 'title'
  | 'parties';

/**
 * @param formatLocal writes an instant (epoch milliseconds) as a date-time of the portal's zone
 * @returns the upsert that makes any matter of this key say what `matter` says; `null` clears.
 *   Read states are not part of it: a remaining party keeps its read state
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
 * @returns the fields of content that differ; status, watermark and deletion are not among them.
 *   Parties are a set of names and roles: their order, display names and read states do not count
 */
export function contentDifferences(a: Matter, b: Matter): ContentField[] {
  const derived = a.bizStatus === b.bizStatus && a.deleted === b.deleted ? DERIVED : [];
  const fields = ['matterType', 'title', ...CONTENT_FIELDS, ...derived] as const;
  const differing: ContentField[] = fields.filter(
    // A document that somebody wrote by hand may lack a field.
    (field) => field !== 'externalStatusCode' && (a[field] ?? null) !== (b[field] ?? null),
  );
  return haveSameParties(a.parties, b.parties) ? differing : [...differing, 'parties'];
}

/** Whether two lists name the same users in the same roles. */
export function haveSameParties(a: readonly PartyRef[], b: readonly PartyRef[]): boolean {
  const [ours, theirs] = [new Set(a.map(nameOf)), new Set(b.map(nameOf))];
  return ours.size === theirs.size && [...ours].every((name) => theirs.has(name));
}

/** A party as one word of its set, e.g. `ASSIGNEE li.lei`. */
export const nameOf = ({ partyRole, username }: PartyRef) => `${partyRole} ${username}`;
