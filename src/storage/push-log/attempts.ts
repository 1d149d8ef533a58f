/**
 * Relations between log entries: the order of a matter's pushes, the attempts of one push, and the later push that
 * resolves a failed push. Pure.
 */
import { ASSIGNED_ID_PREFIX } from '../../domain/operation';
import type { LogEntry } from './entry';

export type FailedEntry = Pick<
  LogEntry,
  '_id' | 'clientId' | 'operation' | 'externalId' | 'idempotencyKey' | 'resentFrom'
>;

export type MendingEntry = FailedEntry &
  Pick<LogEntry, 'state' | 'result' | 'receivedAt' | 'settledAt' | 'batchId'>;

/**
 * If the console resends a push that has no idempotency key, the console makes a key: this prefix and the request id of
 * the push.
 */
const CONSOLE_KEY = 'console/';

/**
 * The request id that gives the position of a push in the order of its matter. For a resend, this is the request id of
 * the original push.
 */
export const positionOf = ({ _id, resentFrom = _id }: Pick<LogEntry, '_id' | 'resentFrom'>) =>
  String(resentFrom);

/** The idempotency key with which a failed push is sent again, so that all attempts together have one effect. */
export const keyOfAttempts = (entry: FailedEntry) =>
  entry.idempotencyKey ?? `${CONSOLE_KEY}${positionOf(entry)}`;

/**
 * Finds the latest attempt of a push without an externalId. All attempts of such a push have the same client,
 * operation and idempotency key. The bodies can differ, because the sender can correct the body.
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
 * Whether two pushes are attempts of one push that names no matter. If such a push is resent, the service assigns an
 * external id to the resend. So a resend with an assigned id also counts as a push that names no matter.
 */
function areUnnamedAttempts(failed: FailedEntry, candidate: MendingEntry): boolean {
  const { externalId, resentFrom, idempotencyKey } = failed;
  const isUnnamed =
    externalId === undefined || (resentFrom && externalId.startsWith(ASSIGNED_ID_PREFIX));
  return !!isUnnamed && idempotencyKey !== undefined && candidate.idempotencyKey === idempotencyKey;
}

/**
 * Whether a later push with the same idempotency key is an attempt of a failed push. A key identifies a push of one
 * client and operation. A key of the console (`CONSOLE_KEY`) contains the request id of a push. So a key of the console
 * identifies the push for all clients.
 */
export const isSamePush = (later: MendingEntry, failed: FailedEntry) =>
  later.operation === failed.operation &&
  (later.clientId === failed.clientId || keyOfAttempts(failed).startsWith(CONSOLE_KEY));

/**
 * Finds the first received candidate that resolves a failed push.
 *
 * @param resendRequestId request id of a resend request whose pushes do not count
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
    // Without `resendRequestId`, a queued resend of the failed push does not count, because this resend can still fail.
    // Another resend is harmless: all resends of a push share one fingerprint, and have one effect together.
    const ownPosition = positionOf(candidate);
    const isLater =
      state === 'QUEUED' && resendRequestId === undefined
        ? ownPosition > position
        : ownPosition >= position;
    // Attempts that name no matter have no order, because each attempt would create its own matter. So the resend of an
    // earlier attempt counts too.
    const counts = isLater || (ownPosition !== position && areUnnamedAttempts(failed, candidate));
    if (isAnother && counts && (!first || at < String(first._id))) first = candidate;
  }
  return first;
}
