/** What became of a push: the same value settles the log entry and answers the caller. */
import { Types } from 'mongoose';
import type { Outcome } from '../../domain/decide';
import type { Reason } from '../../protocol/errors';
import { NO_ASSIGNEE } from '../../protocol/warnings';
import type { LogEntry } from './entry-model';

export type Settlement =
  | {
      readonly state: 'PERSISTED';
      readonly outcome: Outcome;
      readonly matterId: string;
      /** After the push its to-do is in nobody's list. */
      readonly unseen?: true;
    }
  | {
      readonly state: 'REPLAYED';
      readonly outcome: Outcome;
      readonly matterId: string;
      /** Request id of the first push, whose outcome is repeated. */
      readonly duplicateOf: string;
      readonly unseen?: true;
    }
  | { readonly state: 'REFUSED'; readonly reason: Reason }
  | { readonly state: 'EXPIRED' };

/** What an expired push's caller was told. */
const EXPIRED: Reason = 'CONFIRMATION_TIMEOUT';

/** A settlement as an entry keeps it. */
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

/** Reads a settlement back from a stored entry; undefined while it is still queued. */
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
