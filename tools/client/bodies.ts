/**
 * The bodies of the four operations as callers write them (contract 4.1 to 4.4). The rules of each
 * field are in docs/openapi.json. Absent: stays as it is; null: is cleared.
 */
import type { MatterType, PartyRole } from '../../src/domain/matter';

/**
 * When the caller last changed it: epoch seconds or milliseconds, ISO-8601 with offset, or local time
 * in the portal's time zone.
 */
export type Instant = string | number;

export interface PartyBody {
  /** Login name of an enabled user of the portal. */
  readonly username: string;
  readonly partyRole: PartyRole;
}

/** Without a role: all roles of the user. The user need not be known to the portal. */
export interface PartyRemovalBody {
  readonly username: string;
  readonly partyRole?: PartyRole | null;
}

export interface UpsertBody {
  readonly matterType: MatterType;
  /** The caller's own key. Needed for a TODO; for others the service assigns one where it is absent. */
  readonly externalId?: string | null;
  readonly title: string;
  readonly summary?: string | null;
  readonly content?: string | null;
  readonly pcUrl?: string | null;
  readonly mobileUrl?: string | null;
  readonly bizType?: string | null;
  /** LOW, NORMAL, HIGH, URGENT, or any other. */
  readonly priority?: string | null;
  /** Upper snake case; PENDING for a new matter. */
  readonly bizStatus?: string | null;
  /** ISO-8601, local in the portal's time zone. */
  readonly deadlineAt?: string | null;
  readonly initiatorExtId?: string | null;
  readonly initiatorUsername?: string | null;
  readonly externalStatusCode?: string | null;
  readonly externalStatusLabel?: string | null;
  readonly sourceUpdatedAt?: Instant | null;
  /** A JSON document as text. */
  readonly payloadJson?: string | null;
  /** True: the list becomes exactly `parties`. */
  readonly replaceParties?: boolean | null;
  readonly parties?: readonly PartyBody[] | null;
  /** Applied after `parties`. Names none of them, and not together with `replaceParties`. */
  readonly removeParties?: readonly PartyRemovalBody[] | null;
}

export interface ReopenBody {
  readonly externalId: string;
  readonly bizStatus?: string | null;
  readonly externalStatusCode?: string | null;
  readonly externalStatusLabel?: string | null;
  readonly sourceUpdatedAt?: Instant | null;
  /** Whether it becomes unread again for those who handle it; as a rule only by `reopen`. */
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
