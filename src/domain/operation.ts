/**
 * The four operations after validation (contract 4.1 to 4.4). All values can be written as JSON, because the queue
 * stores operations as JSON. An absent field stays unchanged; `null` clears a field.
 */
import type { MatterContent, MatterType, PartyRef, PartyRemoval } from './matter';

export const OPERATIONS = ['upsert', 'status', 'reopen', 'delete'] as const;
export type OperationName = (typeof OPERATIONS)[number];

interface Common {
  /** When the source system updated the matter, epoch milliseconds. Absent: the operation is never stale. */
  readonly sourceUpdatedAt?: number;
}

export interface Upsert extends Common {
  readonly op: 'upsert';
  readonly matterType: MatterType;
  readonly title: string;
  readonly content: Partial<MatterContent>;
  readonly bizStatus?: string;
  readonly replaceParties: boolean;
  readonly parties?: readonly PartyRef[];
  /** Parties to remove; none of them is in `parties`. Empty or absent if `replaceParties` is true. */
  readonly removeParties?: readonly PartyRemoval[];
  /** True if the service assigned the externalId because the caller sent none. */
  readonly assignedId: boolean;
}

interface StatusChange extends Common {
  readonly bizStatus?: string;
  readonly externalStatusCode?: string | null;
  readonly externalStatusLabel?: string | null;
  readonly resetAssigneeUnread: boolean;
}

export interface Status extends StatusChange {
  readonly op: 'status';
  readonly removeParties?: readonly PartyRemoval[];
}

export interface Reopen extends StatusChange {
  readonly op: 'reopen';
}

export interface Delete extends Common {
  readonly op: 'delete';
}

export type Operation = Upsert | Status | Reopen | Delete;

/** Prefix of the externalIds that the service assigns. Ids of callers must not start with this prefix. */
export const ASSIGNED_ID_PREFIX = 'auto:';
