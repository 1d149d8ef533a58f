/**
 * Creates a full upsert (all content of a matter), and compares the content of two matters. A full upsert must correct
 * every difference that `contentDifferences` finds.
 */
import {
  CONTENT_FIELDS,
  type Matter,
  type MatterContent,
  type MatterType,
  type PartyRef,
  partyKey,
} from './matter';

export interface FullUpsert extends Omit<MatterContent, 'deadlineAt'> {
  readonly externalId: string;
  readonly matterType: MatterType;
  readonly title: string;
  readonly bizStatus: string;
  /** ISO-8601, local time in the portal's time zone. */
  readonly deadlineAt: string | null;
  /** ISO-8601 in UTC. */
  readonly sourceUpdatedAt?: string;
  readonly replaceParties: true;
  readonly parties: readonly PartyRef[];
}

/** Fields that the service derives from other fields. */
const DERIVED = ['phase', 'priorityRank'] as const;

export type ContentField =
  | keyof MatterContent
  | (typeof DERIVED)[number]
  | 'matterType'
  | 'title'
  | 'parties';

/** @param formatLocal converts epoch milliseconds to local time in the portal's time zone */
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

/** Does not compare `bizStatus`, `externalStatusCode`, `sourceUpdatedAt` and `deleted`. */
export function contentDifferences(a: Matter, b: Matter): ContentField[] {
  // Compares derived fields only if `bizStatus` and `deleted` are equal, because `phase` depends on both.
  const derived = a.bizStatus === b.bizStatus && a.deleted === b.deleted ? DERIVED : [];
  const fields = ['matterType', 'title', ...CONTENT_FIELDS, ...derived] as const;
  const differing: ContentField[] = fields.filter(
    // A manually edited MongoDB document can lack fields.
    (field) => field !== 'externalStatusCode' && (a[field] ?? null) !== (b[field] ?? null),
  );
  return haveSameParties(a.parties, b.parties) ? differing : [...differing, 'parties'];
}

export function haveSameParties(a: readonly PartyRef[], b: readonly PartyRef[]): boolean {
  const [ours, theirs] = [new Set(a.map(partyKey)), new Set(b.map(partyKey))];
  return ours.size === theirs.size && [...ours].every((name) => theirs.has(name));
}
