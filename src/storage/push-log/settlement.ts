/** The final state of a push, and the write that settles log entries. */

import { type mongo, Types } from 'mongoose';
import type { FieldChange } from '../../domain/changes';
import type { Outcome } from '../../domain/decide';
import type { Reason } from '../../protocol/errors';
import { NO_ASSIGNEE } from '../../protocol/warnings';
import type { LogEntry } from './entry';

export type Settlement =
  | {
      readonly state: 'PERSISTED';
      readonly outcome: Outcome;
      readonly matterId: string;
      /** Set if the push leaves an open TODO without an ASSIGNEE. */
      readonly unseen?: true;
    }
  | {
      readonly state: 'REPLAYED';
      readonly outcome: Outcome;
      readonly matterId: string;
      /** Request id of the first attempt. */
      readonly duplicateOf: string;
      readonly unseen?: true;
    }
  | { readonly state: 'REFUSED'; readonly reason: Reason }
  | { readonly state: 'EXPIRED' };

/** The reason that the caller of an expired push receives. */
const EXPIRED: Reason = 'CONFIRMATION_TIMEOUT';

export function resultOf(
  settlement: Settlement,
): Pick<LogEntry, 'state' | 'result' | 'failure' | 'matterId' | 'duplicateOf'> {
  const { state } = settlement;
  if (state === 'EXPIRED') return { state, result: EXPIRED, failure: EXPIRED };
  if (state === 'REFUSED') return { state, result: settlement.reason, failure: settlement.reason };
  const { outcome: result, matterId } = settlement;
  const duplicateOf = state === 'REPLAYED' && {
    duplicateOf: new Types.ObjectId(settlement.duplicateOf),
  };
  return { state, result, matterId: BigInt(matterId), ...duplicateOf };
}

export function settlementOf(entry: LogEntry): Settlement | undefined {
  const outcome = entry.result as Outcome;
  const matterId = String(entry.matterId);
  const unseen = entry.warnings?.some(({ kind }) => kind === NO_ASSIGNEE.kind) && {
    unseen: true as const,
  };
  switch (entry.state) {
    case 'QUEUED':
      return undefined;
    case 'PERSISTED':
      return { state: 'PERSISTED', outcome, matterId, ...unseen };
    case 'REPLAYED':
      return {
        state: 'REPLAYED',
        outcome,
        matterId,
        duplicateOf: String(entry.duplicateOf),
        ...unseen,
      };
    case 'REFUSED':
      return { state: 'REFUSED', reason: entry.result as Reason };
    case 'EXPIRED':
      return { state: 'EXPIRED' };
    default:
      return entry.state satisfies never;
  }
}

export interface PushToSettle {
  /** Request id. */
  readonly id: string;
  readonly settlement: Settlement;
  /** A failover of MongoDB can remove the stored entry. The entry is then inserted again from this copy. */
  readonly entry?: LogEntry;
  /** Revision of the matter, if the push changed the matter. */
  readonly revision?: number;
  /** Set if the idempotency key was used before with another body. */
  readonly mark?: 'KEY_REUSED';
  /** Time of arrival in the partition, epoch milliseconds of the Redis clock. */
  readonly queuedAt?: number;
  readonly changes?: readonly FieldChange[];
  /** `sourceUpdatedAt` of the stale push (`sent`) and of the matter (`stored`), epoch milliseconds. */
  readonly stale?: { readonly sent: number; readonly stored: number };
}

export interface Settling {
  /** Time of the settlement, epoch milliseconds. */
  readonly now: number;
  /** Start of the batch of the worker, epoch milliseconds of the Redis clock. */
  readonly startedAt?: number;
  /** Name of the `web` or worker process that settles the pushes. */
  readonly worker: string;
  readonly session?: mongo.ClientSession;
  /** Maximum milliseconds of the write. */
  readonly timeout?: number;
}

/**
 * Settles the entries that are still queued. In a transaction, the caller must abort if an entry was not settled.
 *
 * @returns the number of settled entries
 */
export type SettleEntries = (pushes: readonly PushToSettle[], by: Settling) => Promise<number>;

export const createSettleEntries =
  (collection: mongo.Collection<LogEntry>): SettleEntries =>
  async (pushes, by) => {
    if (pushes.length === 0) return 0;
    const { session, timeout: maxTimeMS } = by;
    const result = await collection.bulkWrite(
      pushes.map((push) => toEntryWrite(push, by)),
      {
        ordered: false,
        ...(session && { session }),
        ...(maxTimeMS !== undefined && { maxTimeMS }),
      },
    );
    return result.matchedCount;
  };

function toEntryWrite(
  push: PushToSettle,
  { now, startedAt, worker }: Settling,
): mongo.AnyBulkWriteOperation<LogEntry> {
  const { id, settlement, revision, mark, queuedAt, changes, stale } = push;
  const isUnseen = 'unseen' in settlement && settlement.unseen;
  return {
    updateOne: {
      filter: { _id: new Types.ObjectId(id), state: 'QUEUED' },
      hint: '_id_',
      update: {
        $set: {
          settledAt: new Date(now),
          worker,
          ...resultOf(settlement),
          ...(queuedAt !== undefined && { queuedAt: new Date(queuedAt) }),
          ...(startedAt !== undefined && { startedAt: new Date(startedAt) }),
          ...(revision !== undefined && { revision }),
          ...(mark && { mark }),
          ...(changes && { changes }),
          ...(stale && { stale: { sent: new Date(stale.sent), stored: new Date(stale.stored) } }),
        },
        // A retry finds a persisted first attempt by the fingerprint. Other settled entries lose the fingerprint.
        ...(settlement.state !== 'PERSISTED' && { $unset: { idempotencyFingerprint: 1 } }),
        // `$push` keeps the warnings that `web` stored with the entry.
        ...(isUnseen && { $push: { warnings: NO_ASSIGNEE } }),
      },
    },
  };
}
