/**
 * Classifies the errors of the MongoDB driver. Only this file evaluates the error classes and labels of the driver, and
 * the error codes of MongoDB (`error_codes.yml` in the source code of MongoDB).
 */
import { types } from 'node:util';
import { mongo } from 'mongoose';

/**
 * Whether the database is unavailable, or the result of a commit is unknown. A write conflict is no outage, although
 * the driver labels write conflicts and outages alike.
 */
export function isOutage(error: unknown): boolean {
  if (isUnknownCommit(error)) return true;
  if (codeOf(error) === WRITE_CONFLICT) return false;
  return isUnreachable(error) || isClosed(error) || hasLabel(error, 'TransientTransactionError');
}

/**
 * Whether the cause of a failed write is temporary, so that a retry may succeed. Examples are an unreachable server and
 * a conflict with another write. The failed write may still have taken effect.
 */
export function isTransient(error: unknown): boolean {
  return isUnreachable(error) || TRANSIENT_CODES.has(codeOf(error));
}

/**
 * Whether a write failed because another write had locked or changed its document, or had inserted a document with the
 * same unique key.
 */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === WRITE_CONFLICT || isDuplicateKey(error);
}

/** Whether the collection does not exist yet. */
export const isMissingCollection = (error: unknown): boolean =>
  codeOf(error) === NAMESPACE_NOT_FOUND;

/** Whether the collection that is to be created exists already. */
export const isExistingCollection = (error: unknown): boolean => codeOf(error) === NAMESPACE_EXISTS;

/** Whether a write failed because a document with the same unique key exists. */
export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

/**
 * The cause of an exceeded `maxTimeMS`. MongoDB has one error code for both causes.
 *
 * @returns `locked`: a transaction locked the document. `unconfirmed`: the write was executed, but the majority did not
 *   confirm it in time. Undefined if `maxTimeMS` was not exceeded
 */
export function timeoutCause(error: unknown): 'locked' | 'unconfirmed' | undefined {
  if (codeOf(error) !== MAX_TIME_EXPIRED) return undefined;
  return isUnconfirmed(error) ? 'unconfirmed' : 'locked';
}

/**
 * The errors of single documents in an unordered bulk write.
 *
 * @returns each error by the index of its document; empty if the error concerns the whole bulk write
 */
export function errorsOfDocuments(error: unknown): ReadonlyMap<number, Error> {
  const errors = error instanceof mongo.MongoBulkWriteError ? [error.writeErrors].flat() : [];
  return new Map(
    errors.map(({ index, errmsg = '', code }) => [
      index,
      new mongo.MongoServerError({ message: errmsg, code }),
    ]),
  );
}

/** Whether a bulk write was executed, but the majority did not confirm it in time. */
export function isUnconfirmed(error: unknown): boolean {
  return (
    error instanceof mongo.MongoBulkWriteError && error.result.getWriteConcernError() !== undefined
  );
}

/**
 * Whether a write failed because its document is too large or cannot be encoded. A retry would then fail too. After any
 * other database error, a push can be retried (contract 6.5), even if the error code is unknown here.
 */
export function isCausedByDocument(error: unknown): boolean {
  return (
    error instanceof mongo.BSON.BSONError ||
    // The driver throws this error before sending if the document is too large.
    error instanceof mongo.MongoInvalidArgumentError ||
    exceedsBuffer(error) ||
    TOO_LARGE_CODES.has(codeOf(error))
  );
}

/** Whether the document does not fit into the encoding buffer of the driver. */
const exceedsBuffer = (error: unknown): boolean =>
  types.isNativeError(error) && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';

/** The text of an error for the log, with the error code of MongoDB and the name of the code. */
export function errorText(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) return String(error);
  const name = error instanceof mongo.MongoServerError ? error.codeName : undefined;
  return `${String(error)} (code ${code}${name ? ` ${name}` : ''})`;
}

/** Whether MongoDB has rejected a command that is forbidden or not supported. A retry would be rejected too. */
export function isRejectedPermanently(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && PERMANENT_REJECTIONS.has(codeOf(error));
}

/**
 * Whether the error comes from a socket. If a connection breaks while the driver sends a command, the driver throws the
 * error of the socket unchanged.
 */
export function isSocketError(error: unknown): boolean {
  // Under jest, the error can come from another JavaScript context. For such an error, `instanceof Error` is false, but
  // `isNativeError` is true.
  return types.isNativeError(error) && 'syscall' in error;
}

/**
 * Throws the error of a failed commit as an error of the driver. This works around a defect of the driver: if the
 * connection breaks while the driver sends a commit, the driver throws a TypeError. The result of the commit is then
 * unknown.
 */
export function throwAsDriverError(error: unknown): never {
  if (error instanceof mongo.MongoError) throw error;
  throw new mongo.MongoNetworkError('the connection broke during a commit', {
    cause: error instanceof Error ? error : new Error(String(error)),
  });
}

/** Whether the driver reached no server that could run the command. */
function isUnreachable(error: unknown): boolean {
  return (
    isSocketError(error) ||
    UNAVAILABLE_CODES.has(codeOf(error)) ||
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    (error instanceof mongo.MongoError && error.name === 'MongoWaitQueueTimeoutError') ||
    // An error of this class without a code means a broken connection. Errors of MongoDB itself have a code.
    (error instanceof mongo.MongoBulkWriteError && codeOf(error) === undefined) ||
    hasLabel(error, 'RetryableWriteError')
  );
}

/** Whether this process has closed its connections. */
function isClosed(error: unknown): boolean {
  return (
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoTopologyClosedError ||
    error instanceof mongo.MongoClientClosedError
  );
}

const isUnknownCommit = (error: unknown) => hasLabel(error, 'UnknownTransactionCommitResult');

const hasLabel = (error: unknown, label: string): boolean =>
  error instanceof mongo.MongoError && error.hasErrorLabel(label);

/** The error code of MongoDB; undefined if the error does not come from MongoDB itself. */
function codeOf(error: unknown): number | undefined {
  const code = error instanceof mongo.MongoError ? error.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

type Codes = ReadonlySet<number | undefined>;

/**
 * Error codes with which a server reports that it is not the primary, changes its role, shuts down, exceeded its own
 * time limit, or cannot reach another member or shard. Such an error has the label `RetryableWriteError` only if the
 * command was a write.
 */
const UNAVAILABLE_CODES: Codes = new Set([
  ...[6, 7, 89, 202, 9001], // network errors between members, and from mongos to a shard
  133, // FailedToSatisfyReadPreference: mongos finds no primary for a shard
  262, // ExceededTimeLimit: a limit of the server itself. MAX_TIME_EXPIRED is the limit of a command
  ...[91, 11600, 11602], // the server shuts down or changes its role
  ...[134, 189, 10058, 10107, 13435, 13436], // wrong role in the replica set, read concern not available yet
]);

const NAMESPACE_NOT_FOUND = 26;
const NAMESPACE_EXISTS = 48;
const MAX_TIME_EXPIRED = 50;
const WRITE_CONFLICT = 112;
const DUPLICATE_KEY = 11_000;

const TRANSIENT_CODES: Codes = new Set([
  ...[24, 46, WRITE_CONFLICT, 117, 276, 314], // locks, conflicts, index builds
  MAX_TIME_EXPIRED,
  ...[64, 79, 100], // the write concern was not satisfied
  11601, // interrupted
]);

/** Error codes for a document, or a result of an update, that exceeds 16 MiB. */
const TOO_LARGE_CODES: Codes = new Set([10334, 17419, 17420]);

const PERMANENT_REJECTIONS: Codes = new Set([
  13, // Unauthorized
  59, // CommandNotFound
  115, // CommandNotSupported
  8000, // AtlasError
]);
