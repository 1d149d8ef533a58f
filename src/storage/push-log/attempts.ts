/** Finds the attempts of a push, and the later push that resolves a failed push. */
import { ASSIGNED_ID_PREFIX } from '../../domain/operation';
import type { LogEntry } from './entry';

export type FailedEntry = Pick<
  LogEntry,
  '_id' | 'clientId' | 'operation' | 'externalId' | 'idempotencyKey' | 'resentFrom'
>;

export type MendingEntry = FailedEntry &
  Pick<LogEntry, 'state' | 'result' | 'receivedAt' | 'settledAt' | 'batchId'>;

/** Prefix of the idempotency keys that the console creates. */
const CONSOLE_KEY = 'console/';

/** Position of a push in the order of its matter. A resend has the position of the original push. */
export const positionOf = ({ _id, resentFrom = _id }: Pick<LogEntry, '_id' | 'resentFrom'>) =>
  String(resentFrom);

/** The idempotency key for all resends of a failed push. */
export const keyOfAttempts = (entry: FailedEntry) =>
  entry.idempotencyKey ?? `${CONSOLE_KEY}${positionOf(entry)}`;

/**
 * Returns a function that finds the latest attempt of a push without an external id. For other pushes, the function
 * returns the entry itself.
 *
 * @param entries the oldest first
 */
export function latestAttempts(entries: readonly LogEntry[]): (entry: LogEntry) => LogEntry {
  const keyOf = ({ clientId, operation, externalId, idempotencyKey }: LogEntry) =>
    externalId === undefined && idempotencyKey !== undefined
      ? [clientId, operation, idempotencyKey].join('\n')
      : undefined;
  const latest = new Map(entries.map((entry) => [keyOf(entry), entry]));
  return (entry) => (keyOf(entry) === undefined ? entry : (latest.get(keyOf(entry)) ?? entry));
}

/** Whether both entries are attempts of one push that was sent without an external id. */
function areUnnamedAttempts(failed: FailedEntry, candidate: MendingEntry): boolean {
  const { externalId, resentFrom, idempotencyKey } = failed;
  const isUnnamed =
    externalId === undefined || (resentFrom && externalId.startsWith(ASSIGNED_ID_PREFIX));
  return !!isUnnamed && idempotencyKey !== undefined && candidate.idempotencyKey === idempotencyKey;
}

/**
 * Whether two pushes with the same idempotency key are attempts of one push. If the console created the key, the
 * clients may differ.
 */
export const isSamePush = (later: MendingEntry, failed: FailedEntry) =>
  later.operation === failed.operation &&
  (later.clientId === failed.clientId || keyOfAttempts(failed).startsWith(CONSOLE_KEY));

/**
 * Finds the first candidate that has resolved the failed push or can still resolve it.
 *
 * @param resendRequestId ignores the pushes of this resend request
 */
export function firstAfter(
  failed: FailedEntry,
  candidates: readonly MendingEntry[],
  resendRequestId: string | undefined,
): MendingEntry | undefined {
  const position = positionOf(failed);
  let first: MendingEntry | undefined;
  for (const candidate of candidates) {
    const { state, batchId } = candidate;
    if (resendRequestId !== undefined && String(batchId) === resendRequestId) continue;
    const at = String(candidate._id);
    const isAnother = at > position && at !== String(failed._id);
    // A queued resend of the failed push counts only if `resendRequestId` is set.
    const ownPosition = positionOf(candidate);
    const isLater =
      state === 'QUEUED' && resendRequestId === undefined
        ? ownPosition > position
        : ownPosition >= position;
    // Attempts without an external id have no order.
    const counts = isLater || (ownPosition !== position && areUnnamedAttempts(failed, candidate));
    if (isAnother && counts && (!first || at < String(first._id))) first = candidate;
  }
  return first;
}
