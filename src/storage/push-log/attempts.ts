/**
 * Relations between log entries: the order of a matter's pushes, the attempts of one push, and the later push that
 * resolves a failed push.
 */
import { ASSIGNED_ID_PREFIX } from '../../domain/operation';
import type { LogEntry } from './entry';

export type FailedEntry = Pick<
  LogEntry,
  '_id' | 'clientId' | 'operation' | 'externalId' | 'idempotencyKey' | 'resentFrom'
>;

export type MendingEntry = FailedEntry &
  Pick<LogEntry, 'state' | 'result' | 'receivedAt' | 'settledAt' | 'batchId'>;

/** Prefix of the idempotency key that the console creates to resend a push without a key. */
const CONSOLE_KEY = 'console/';

/**
 * The request id that defines the position of a push among the pushes of its matter. A resend has the position of its
 * original push.
 */
export const positionOf = ({ _id, resentFrom = _id }: Pick<LogEntry, '_id' | 'resentFrom'>) =>
  String(resentFrom);

/** The idempotency key with which a failed push is sent again, so that all attempts together have one effect. */
export const keyOfAttempts = (entry: FailedEntry) =>
  entry.idempotencyKey ?? `${CONSOLE_KEY}${positionOf(entry)}`;

/**
 * Finds the latest attempt of a push without an externalId.
 *
 * @param entries the oldest first
 * @returns a function that returns the latest attempt of an entry. For an entry with an externalId or without a key,
 *   the function returns the entry itself
 */
export function latestAttempts(entries: readonly LogEntry[]): (entry: LogEntry) => LogEntry {
  const keyOf = ({ clientId, operation, externalId, idempotencyKey }: LogEntry) =>
    externalId === undefined && idempotencyKey !== undefined
      ? [clientId, operation, idempotencyKey].join('\n')
      : undefined;
  const latest = new Map(entries.map((entry) => [keyOf(entry), entry]));
  return (entry) => (keyOf(entry) === undefined ? entry : (latest.get(keyOf(entry)) ?? entry));
}

/**
 * Whether `failed` and `candidate` are attempts of one push without an external id. A resend of this push has an
 * external id that the service assigned.
 */
function areUnnamedAttempts(failed: FailedEntry, candidate: MendingEntry): boolean {
  const { externalId, resentFrom, idempotencyKey } = failed;
  const isUnnamed =
    externalId === undefined || (resentFrom && externalId.startsWith(ASSIGNED_ID_PREFIX));
  return !!isUnnamed && idempotencyKey !== undefined && candidate.idempotencyKey === idempotencyKey;
}

/**
 * Whether a later push with the same idempotency key is an attempt of the failed push. A key that the console created
 * belongs to only one push, so the clients can differ.
 */
export const isSamePush = (later: MendingEntry, failed: FailedEntry) =>
  later.operation === failed.operation &&
  (later.clientId === failed.clientId || keyOfAttempts(failed).startsWith(CONSOLE_KEY));

/**
 * Finds the earliest received candidate that resolves a failed push.
 *
 * @param resendRequestId pushes of this resend request do not count
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
    // A queued resend of the failed push can still fail. So this resend counts only if `resendRequestId` is set.
    const ownPosition = positionOf(candidate);
    const isLater =
      state === 'QUEUED' && resendRequestId === undefined
        ? ownPosition > position
        : ownPosition >= position;
    // Attempts without an external id have no common matter, and therefore no order. So a resend of an earlier attempt
    // counts too.
    const counts = isLater || (ownPosition !== position && areUnnamedAttempts(failed, candidate));
    if (isAnother && counts && (!first || at < String(first._id))) first = candidate;
  }
  return first;
}
