/**
 * A matter (contract 1): one to-do, notice, alert or reminder in the ledger of the portal. Instants are epoch
 * milliseconds. A `matterId` is a 64-bit snowflake.
 */
export type MatterType = 'TODO' | 'NOTICE' | 'ALERT' | 'REMIND';
export type PartyRole = 'ASSIGNEE' | 'CC' | 'RECIPIENT';

/** Derived from `bizStatus` and `deleted` (contract 1.4). */
export type Phase = 'DRAFT' | 'OPEN' | 'CONCLUDED' | 'DELETED';

export interface PartyRef {
  readonly username: string;
  readonly partyRole: PartyRole;
}

/** Without `partyRole`, the user is removed in every role. */
export interface PartyRemoval {
  readonly username: string;
  readonly partyRole?: PartyRole;
}

/** The key of a party in maps and sets, for example `ASSIGNEE li.lei`. */
export const partyKey = ({ partyRole, username }: PartyRef) => `${partyRole} ${username}`;

export interface Party extends PartyRef {
  readonly displayName: string;
  readonly unread: boolean;
}

/**
 * The optional content fields of an upsert (contract 4.1). An absent field stays unchanged, and `null` clears a field.
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
  /** Usernames of former ASSIGNEEs. */
  readonly pastHandlers: readonly string[];
  /** The newest `sourceUpdatedAt` that was applied. */
  readonly sourceUpdatedAt: number | null;
  readonly deleted: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
  /** For optimistic locking. */
  readonly revision: number;
}

const PRIORITY_RANKS: Readonly<Record<string, number>> = { LOW: 0, NORMAL: 1, HIGH: 2, URGENT: 3 };

/** The rank of a priority in lists (contract 1.5). */
export function priorityRank(priority: string | null): number {
  return Object.hasOwn(PRIORITY_RANKS, priority ?? '') ? (PRIORITY_RANKS[priority ?? ''] ?? 1) : 1;
}

/** An unknown status counts as open (contract 1.4). */
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
 * Returns the key of a group. A group contains all pushes of one matter (contract 6.3). The parameters must not contain
 * line feeds.
 */
export function groupOf(systemCode: string, externalId: string): string {
  return `${systemCode}\n${externalId}`;
}
