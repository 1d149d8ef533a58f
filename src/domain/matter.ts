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

/** The optional fields that a push may set, leave alone (absent) or clear (`null`). */
export interface MatterContent {
  readonly summary: string | null;
  readonly content: string | null;
  readonly pcUrl: string | null;
  readonly mobileUrl: string | null;
  readonly bizType: string | null;
  readonly priority: string | null;
  readonly deadlineAt: number | null;
  readonly initiatorExtId: string | null;
  readonly initiatorUsername: string | null;
  readonly externalStatusCode: string | null;
  readonly externalStatusLabel: string | null;
  readonly payloadJson: string | null;
}

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
