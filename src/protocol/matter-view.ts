/** A matter as readers outside see it: the specification's field names (2.1, 2.2), JSON-safe. */
import type { MatterType, PartyRole, Phase } from '../domain/matter';

export interface PartyView {
  readonly username: string;
  readonly partyRole: PartyRole;
  readonly displayName: string;
  readonly unread: boolean;
}

/** Absent values are null; instants are ISO-8601 UTC unless said otherwise. */
export interface MatterView {
  readonly systemCode: string;
  readonly externalId: string;
  /** Decimal digits: a 64-bit id does not survive as a JSON number. */
  readonly matterId: string;
  readonly matterType: MatterType;
  readonly title: string;
  readonly summary: string | null;
  readonly content: string | null;
  readonly pcUrl: string | null;
  readonly mobileUrl: string | null;
  readonly bizType: string | null;
  readonly priority: string | null;
  readonly bizStatus: string;
  /** Where the matter stands: derived from `bizStatus` and `deleted`. */
  readonly phase: Phase;
  /** ISO-8601 local date-time of the portal's zone, as it is pushed. */
  readonly deadlineAt: string | null;
  readonly initiatorExtId: string | null;
  readonly initiatorUsername: string | null;
  readonly externalStatusCode: string | null;
  readonly externalStatusLabel: string | null;
  readonly sourceUpdatedAt: string | null;
  readonly payloadJson: string | null;
  readonly parties: readonly PartyView[];
  readonly deleted: boolean;
  readonly deletedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revision: number;
}
