/**
 * The four operations as the domain sees them: validated, normalized, JSON-safe (they travel
 * through a partition). A field that is absent is not touched; `null` clears it. Specification 4.1-4.4.
 */
import type { MatterContent, MatterType, PartyRef } from './matter';

export const OPERATIONS = ['upsert', 'status', 'reopen', 'delete'] as const;
export type OperationName = (typeof OPERATIONS)[number];

interface Common {
  /** The caller's last-update time, epoch milliseconds; absent: no out-of-order control. */
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
  /** True where the service itself assigned the externalId (a notice pushed without one). */
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
}

export interface Reopen extends StatusChange {
  readonly op: 'reopen';
}

export interface Delete extends Common {
  readonly op: 'delete';
}

export type Operation = Upsert | Status | Reopen | Delete;

/** Prefix of ids that the service assigns; callers' own may not start with it. */
export const ASSIGNED_ID_PREFIX = 'auto:';
