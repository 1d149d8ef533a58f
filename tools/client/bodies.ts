/**
 * The bodies of the four operations as callers write them (contract 4.1 to 4.4). The rules of each field are in
 * docs/openapi.json. An absent field stays unchanged, and `null` clears it.
 */
import type { MatterType, PartyRole } from '../../src/domain/matter';

/**
 * The time of a change in the business system: epoch seconds or milliseconds, ISO-8601 with offset, or local time in
 * the portal's time zone.
 */
export type Instant = string | number;

export interface PartyBody {
  /** Login name of an enabled user of the portal. */
  readonly username: string;
  readonly partyRole: PartyRole;
}

/** Without `partyRole`, all roles of the user are removed. The portal does not need to know the user. */
export interface PartyRemovalBody {
  readonly username: string;
  readonly partyRole?: PartyRole | null;
}

export interface UpsertBody {
  readonly matterType: MatterType;
  /** The caller's id of the matter. Required for a TODO; for other types the service assigns an id if it is absent. */
  readonly externalId?: string | null;
  readonly title: string;
  readonly summary?: string | null;
  readonly content?: string | null;
  readonly pcUrl?: string | null;
  readonly mobileUrl?: string | null;
  readonly bizType?: string | null;
  /** LOW, NORMAL, HIGH, URGENT, or another text. */
  readonly priority?: string | null;
  /** In upper snake case. The default for a new matter is PENDING. */
  readonly bizStatus?: string | null;
  /** ISO-8601 local time in the portal's time zone. */
  readonly deadlineAt?: string | null;
  readonly initiatorExtId?: string | null;
  readonly initiatorUsername?: string | null;
  readonly externalStatusCode?: string | null;
  readonly externalStatusLabel?: string | null;
  readonly sourceUpdatedAt?: Instant | null;
  /** A JSON document as text. */
  readonly payloadJson?: string | null;
  /** True: `parties` replaces the whole list. */
  readonly replaceParties?: boolean | null;
  readonly parties?: readonly PartyBody[] | null;
  /** Removed after `parties` is applied. A party must not be in both lists. Not allowed with `replaceParties: true`. */
  readonly removeParties?: readonly PartyRemovalBody[] | null;
}

export interface ReopenBody {
  readonly externalId: string;
  readonly bizStatus?: string | null;
  readonly externalStatusCode?: string | null;
  readonly externalStatusLabel?: string | null;
  readonly sourceUpdatedAt?: Instant | null;
  /** Whether the matter becomes unread for its ASSIGNEEs. The default is true for `reopen` and false for `status`. */
  readonly resetAssigneeUnread?: boolean | null;
}

export interface StatusBody extends ReopenBody {
  readonly removeParties?: readonly PartyRemovalBody[] | null;
}

export interface DeleteBody {
  readonly externalId: string;
  readonly sourceUpdatedAt?: Instant | null;
}

export interface PushBodies {
  readonly upsert: UpsertBody;
  readonly status: StatusBody;
  readonly reopen: ReopenBody;
  readonly delete: DeleteBody;
}
