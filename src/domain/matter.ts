/**
 * The matter: one to-do, notice, alert or reminder of the portal's ledger, and its parties.
 * Specification 2.1, 2.2 and 3. Instants are epoch milliseconds; ids are 64-bit snowflakes.
 */
export type MatterType = 'TODO' | 'NOTICE' | 'ALERT' | 'REMIND';
export type PartyRole = 'ASSIGNEE' | 'CC' | 'RECIPIENT';

/** Where a matter stands, as the portal's lists need it: derived from `bizStatus` and `deleted`. */
export type Phase = 'DRAFT' | 'OPEN' | 'CONCLUDED' | 'DELETED';

export interface PartyRef {
  readonly username: string;
  readonly partyRole: PartyRole;
}

export interface Party extends PartyRef {
  readonly displayName: string;
  readonly unread: boolean;
}

/**
 * The optional fields that a push may set, leave alone (absent) or clear (`null`), by their names in the
 * specification (2.1). All are texts but the deadline.
 */
export const CONTENT_FIELDS = [
  'summary',
  'content',
  'pcUrl',
  'mobileUrl',
  'bizType',
  'priority',
  'deadlineAt',
  'initiatorExtId',
  'initiatorUsername',
  'externalStatusCode',
  'externalStatusLabel',
  'payloadJson',
] as const;

export type ContentText = Exclude<(typeof CONTENT_FIELDS)[number], 'deadlineAt'>;

export const CONTENT_TEXTS = CONTENT_FIELDS.filter(
  (field): field is ContentText => field !== 'deadlineAt',
);

export type ContentTexts = Readonly<Record<ContentText, string | null>>;

export interface MatterContent extends ContentTexts {
  readonly deadlineAt: number | null;
}

/** The content of a matter of which nothing was said. */
export const EMPTY_CONTENT = Object.fromEntries(
  CONTENT_FIELDS.map((field) => [field, null]),
) as unknown as MatterContent;

export interface Matter extends MatterContent {
  readonly matterId: bigint;
  readonly systemCode: string;
  readonly externalId: string;
  readonly matterType: MatterType;
  readonly title: string;
  readonly bizStatus: string;
  readonly phase: Phase;
  readonly priorityRank: number;
  readonly parties: readonly Party[];
  /** Usernames that once were ASSIGNEE and no longer are: the matter stays under their "done". */
  readonly pastHandlers: readonly string[];
  /** The watermark: the newest `sourceUpdatedAt` applied; null until one was sent. */
  readonly sourceUpdatedAt: number | null;
  readonly deleted: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
  /** How many operations changed the matter so far; every commit names the revision that it read. */
  readonly revision: number;
}

const PRIORITY_RANKS: Readonly<Record<string, number>> = { LOW: 0, NORMAL: 1, HIGH: 2, URGENT: 3 };

/** The rank of a priority in lists; an unknown or absent one ranks as NORMAL (decisions, "priority"). */
export function priorityRank(priority: string | null): number {
  return Object.hasOwn(PRIORITY_RANKS, priority ?? '') ? (PRIORITY_RANKS[priority ?? ''] ?? 1) : 1;
}

/** Derives the phase (decisions, "bizStatus": a status that nobody knows counts as open). */
export function phaseOf(
  bizStatus: string,
  deleted: boolean,
  concluded: ReadonlySet<string>,
): Phase {
  if (deleted) return 'DELETED';
  if (bizStatus === 'DRAFT') return 'DRAFT';
  return concluded.has(bizStatus) ? 'CONCLUDED' : 'OPEN';
}
