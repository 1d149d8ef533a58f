/**
 * The four operations after validation (contract 4.1 to 4.4). All values must be JSON values, because the queue stores
 * operations as JSON.
 */
import type { MatterContent, MatterType, PartyRef, PartyRemoval } from './matter';

export const OPERATIONS = ['upsert', 'status', 'reopen', 'delete'] as const;
export type OperationName = (typeof OPERATIONS)[number];

interface Common {
  /** Time of the update in the source system, epoch milliseconds. If absent, the operation is never stale. */
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
  /** Empty or absent if `replaceParties` is true. */
  readonly removeParties?: readonly PartyRemoval[];
  /** True if the service assigned the externalId. */
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

/** Prefix of the externalIds that the service assigns. */
export const ASSIGNED_ID_PREFIX = 'auto:';
