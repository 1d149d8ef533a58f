/**
 * Types of a matter and its parties, and the functions that derive fields of a matter (contract 1). A matter is one
 * to-do, notice, alert or reminder in the ledger of the portal. Instants are epoch milliseconds; `matterId` is a 64-bit
 * snowflake.
 */
export type MatterType = 'TODO' | 'NOTICE' | 'ALERT' | 'REMIND';
export type PartyRole = 'ASSIGNEE' | 'CC' | 'RECIPIENT';

/** The state of a matter for the lists of the portal, derived from `bizStatus` and `deleted` (contract 1.4). */
export type Phase = 'DRAFT' | 'OPEN' | 'CONCLUDED' | 'DELETED';

export interface PartyRef {
  readonly username: string;
  readonly partyRole: PartyRole;
}

/** A party to remove. Without `partyRole`, the user is removed in every role. */
export interface PartyRemoval {
  readonly username: string;
  readonly partyRole?: PartyRole;
}

/** A party as text, for example `ASSIGNEE li.lei`. The text is the key of a party in maps and sets. */
export const partyKey = ({ partyRole, username }: PartyRef) => `${partyRole} ${username}`;

export interface Party extends PartyRef {
  readonly displayName: string;
  readonly unread: boolean;
}

/**
 * The optional content fields of an upsert (contract 4.1). An absent field stays unchanged; `null` clears a field. All
 * fields except `deadlineAt` are texts.
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

/** The optional fields of a new matter before its upsert is applied: all null. */
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
  /** Usernames of former ASSIGNEEs. These users keep the matter in their "done" list. */
  readonly pastHandlers: readonly string[];
  /** The newest `sourceUpdatedAt` that was applied; null if no push had one. */
  readonly sourceUpdatedAt: number | null;
  readonly deleted: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
  /** Number of changes so far. A commit succeeds only if the stored revision is still the revision that was read. */
  readonly revision: number;
}

const PRIORITY_RANKS: Readonly<Record<string, number>> = { LOW: 0, NORMAL: 1, HIGH: 2, URGENT: 3 };

/** The rank of a priority in lists (contract 1.5). */
export function priorityRank(priority: string | null): number {
  return Object.hasOwn(PRIORITY_RANKS, priority ?? '') ? (PRIORITY_RANKS[priority ?? ''] ?? 1) : 1;
}

/** Derives the phase. An unknown status counts as open (contract 1.4). */
export function phaseOf(
  bizStatus: string,
  deleted: boolean,
  concluded: ReadonlySet<string>,
): Phase {
  if (deleted) return 'DELETED';
  if (bizStatus === 'DRAFT') return 'DRAFT';
  return concluded.has(bizStatus) ? 'CONCLUDED' : 'OPEN';
}

/**
 * The key of a matter as one text: its system code and its externalId. All pushes with the same key form a group. The
 * pushes of a group are applied in order (contract 6.3). The parameters must not contain line feeds.
 */
export function groupOf(systemCode: string, externalId: string): string {
  return `${systemCode}\n${externalId}`;
}
