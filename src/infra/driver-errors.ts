/** Classifies the errors of the MongoDB driver. `error_codes.yml` in MongoDB's source code lists the codes. */
import { types } from 'node:util';
import { mongo } from 'mongoose';

/** Whether the database is unavailable, or the result of a commit is unknown. A write conflict is no outage. */
export function isOutage(error: unknown): boolean {
  if (isUnknownCommit(error)) return true;
  if (codeOf(error) === WRITE_CONFLICT) return false;
  return isUnreachable(error) || isClosed(error) || hasLabel(error, 'TransientTransactionError');
}

/** Whether a retry of a failed write can succeed. The failed write may have taken effect. */
export function isTransient(error: unknown): boolean {
  return isUnreachable(error) || TRANSIENT_CODES.has(codeOf(error));
}

/** Whether another write caused the failure. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === WRITE_CONFLICT || isDuplicateKey(error);
}

export const isMissingCollection = (error: unknown): boolean =>
  codeOf(error) === NAMESPACE_NOT_FOUND;

export const isExistingCollection = (error: unknown): boolean => codeOf(error) === NAMESPACE_EXISTS;

export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

/**
 * Distinguishes two errors with the code MAX_TIME_EXPIRED.
 *
 * - `locked`: a transaction locked the document.
 * - `unconfirmed`: the write was executed, but the majority did not confirm the write in time.
 */
export function timeoutCause(error: unknown): 'locked' | 'unconfirmed' | undefined {
  if (codeOf(error) !== MAX_TIME_EXPIRED) return undefined;
  return isUnconfirmed(error) ? 'unconfirmed' : 'locked';
}

/** The errors of single documents of an unordered bulk write, by index of the document. */
export function errorsOfDocuments(error: unknown): ReadonlyMap<number, Error> {
  const errors = error instanceof mongo.MongoBulkWriteError ? [error.writeErrors].flat() : [];
  return new Map(
    errors.map(({ index, errmsg = '', code }) => [
      index,
      new mongo.MongoServerError({ message: errmsg, code }),
    ]),
  );
}

/** Whether the majority did not confirm a bulk write in time. */
export function isUnconfirmed(error: unknown): boolean {
  return (
    error instanceof mongo.MongoBulkWriteError && error.result.getWriteConcernError() !== undefined
  );
}

/** Whether the document is too large or cannot be encoded (contract 6.5). */
export function isCausedByDocument(error: unknown): boolean {
  return (
    error instanceof mongo.BSON.BSONError ||
    // Thrown by the driver if the document is too large to send.
    error instanceof mongo.MongoInvalidArgumentError ||
    exceedsBuffer(error) ||
    TOO_LARGE_CODES.has(codeOf(error))
  );
}

/** Whether the document does not fit into the encoding buffer of the driver. */
const exceedsBuffer = (error: unknown): boolean =>
  types.isNativeError(error) && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';

export function errorText(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) return String(error);
  const name = error instanceof mongo.MongoServerError ? error.codeName : undefined;
  return `${String(error)} (code ${code}${name ? ` ${name}` : ''})`;
}

/** Whether MongoDB rejected a command as forbidden or not supported. */
export function isRejectedPermanently(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && PERMANENT_REJECTIONS.has(codeOf(error));
}

/** The driver throws some errors of Node.js sockets without converting them to a MongoError. */
export function isSocketError(error: unknown): boolean {
  // Under jest, `instanceof Error` can be false for a socket error.
  return types.isNativeError(error) && 'syscall' in error;
}

/** Works around a defect of the driver: a broken connection during a commit can cause a TypeError. */
export function throwAsDriverError(error: unknown): never {
  if (error instanceof mongo.MongoError) throw error;
  throw new mongo.MongoNetworkError('the connection broke during a commit', {
    cause: error instanceof Error ? error : new Error(String(error)),
  });
}

function isUnreachable(error: unknown): boolean {
  return (
    isSocketError(error) ||
    UNAVAILABLE_CODES.has(codeOf(error)) ||
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    (error instanceof mongo.MongoError && error.name === 'MongoWaitQueueTimeoutError') ||
    // A bulk-write error without a code means a broken connection.
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

function codeOf(error: unknown): number | undefined {
  const code = error instanceof mongo.MongoError ? error.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

type Codes = ReadonlySet<number | undefined>;

/** The server currently cannot run the command. */
const UNAVAILABLE_CODES: Codes = new Set([
  ...[6, 7, 89, 202, 9001], // network errors between members, and from mongos to a shard
  133, // FailedToSatisfyReadPreference: mongos finds no primary for a shard
  262, // ExceededTimeLimit: an internal time limit of the server
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

/** A document exceeds 16 MiB. */
const TOO_LARGE_CODES: Codes = new Set([10334, 17419, 17420]);

const PERMANENT_REJECTIONS: Codes = new Set([
  13, // Unauthorized
  59, // CommandNotFound
  115, // CommandNotSupported
  8000, // AtlasError
]);
