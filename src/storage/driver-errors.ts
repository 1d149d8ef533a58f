/**
 * What the errors of MongoDB's driver mean: the only place that knows its classes and labels, and the
 * server's codes (its list error_codes.yml).
 */
import { types } from 'node:util';
import { mongo } from 'mongoose';

/**
 * Whether the database is away, or the outcome of a commit unknown. A conflict between transactions is
 * not that, though the driver labels it alike.
 */
export function isOutage(error: unknown): boolean {
  if (isUnknownCommit(error)) return true;
  if (codeOf(error) === WRITE_CONFLICT) return false;
  return isUnreachable(error) || isClosed(error) || hasLabel(error, 'TransientTransactionError');
}

/**
 * Whether the same write may succeed a moment later: the server could not be reached, or changed its
 * place, or had something else to do with what was to be written (a conflict, an index build). Whether
 * the write took effect all the same is open.
 */
export function isTransient(error: unknown): boolean {
  return isUnreachable(error) || PASSING.has(codeOf(error));
}

/** Whether somebody else holds, or has just written, what was to be written. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === WRITE_CONFLICT || isDuplicateKey(error);
}

/** Whether the collection does not exist yet. */
export const isMissingCollection = (error: unknown): boolean =>
  codeOf(error) === NAMESPACE_NOT_FOUND;

/** Whether the collection that is to be created exists already. */
export const isExistingCollection = (error: unknown): boolean => codeOf(error) === NAMESPACE_EXISTS;

/** Whether a document under the same unique key is there. */
export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

/**
 * What a command came to whose time (maxTimeMS) was over: `held`, where something held what it was to
 * write; `unconfirmed`, where it is written, and the majority did not confirm it yet. The server has one
 * code for both. Undefined for any other error.
 */
export function outOfTime(error: unknown): 'held' | 'unconfirmed' | undefined {
  if (codeOf(error) !== MAX_TIME_EXPIRED) return undefined;
  return isUnconfirmed(error) ? 'unconfirmed' : 'held';
}

/**
 * What an unordered bulk write says of single documents: an error by the index of each that failed.
 * Empty where the error is about all of them.
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

/** Whether a bulk write is written as far as it could be, but the majority did not confirm it in time. */
export function isUnconfirmed(error: unknown): boolean {
  return (
    error instanceof mongo.MongoBulkWriteError && error.result.getWriteConcernError() !== undefined
  );
}

/**
 * Whether a write failed because of the document itself: it is too large, or cannot be encoded. Another try
 * gives the same error. Nothing else is known to be final for a push (decisions, "Success"): a server has
 * hundreds of codes, and new versions add some.
 */
export function isCausedByDocument(error: unknown): boolean {
  return (
    error instanceof mongo.BSON.BSONError ||
    // The driver checks the size of a document before it sends it.
    error instanceof mongo.MongoInvalidArgumentError ||
    isBeyondBuffer(error) ||
    TOO_LARGE.has(codeOf(error))
  );
}

/** A document that does not fit into the buffer in which the driver encodes it. */
const isBeyondBuffer = (error: unknown): boolean =>
  types.isNativeError(error) && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';

/** The error with the server's code and the name of the code, for the log. */
export function errorText(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) return String(error);
  const name = error instanceof mongo.MongoServerError ? error.codeName : undefined;
  return `${String(error)} (code ${code}${name ? ` ${name}` : ''})`;
}

/** Whether the server never does what was asked, whoever asks and whenever. */
export function isRejectedForGood(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && REJECTED_FOR_GOOD.has(codeOf(error));
}

/**
 * Whether an error is a socket's own: the driver hands it on as it is, without a class or label of
 * its own, where a connection breaks while a command is still being written.
 */
export function isSocketError(error: unknown): boolean {
  // By its nature, not its class: it may come from another realm, as under jest.
  return types.isNativeError(error) && 'syscall' in error;
}

/**
 * Where a connection breaks while a commit is still being written, the driver fails over its own error
 * handling (a TypeError): what it is about is a commit whose outcome nobody knows.
 *
 * @throws always, an error of the driver
 */
export function throwAsDriverError(error: unknown): never {
  if (error instanceof mongo.MongoError) throw error;
  throw new mongo.MongoNetworkError('the connection broke in a commit', {
    cause: error instanceof Error ? error : new Error(String(error)),
  });
}

/** No server is there, or in the right place, to run the command now. */
function isUnreachable(error: unknown): boolean {
  return (
    isSocketError(error) ||
    AWAY.has(codeOf(error)) ||
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    (error instanceof mongo.MongoError && error.name === 'MongoWaitQueueTimeoutError') ||
    // The driver puts a connection that broke in a bulk write into this one; a server's word has a code.
    (error instanceof mongo.MongoBulkWriteError && codeOf(error) === undefined) ||
    hasLabel(error, 'RetryableWriteError')
  );
}

/** The connections of this process are closed. */
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

/** The server's code; undefined where it is not the server's error. */
function codeOf(error: unknown): number | undefined {
  const code = error instanceof mongo.MongoError ? error.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

type Codes = ReadonlySet<number | undefined>;

/**
 * It is no primary (any more, or yet), on its way there or to its end, or cannot reach another member or
 * shard. On a read the driver gives these no label.
 */
const AWAY: Codes = new Set([
  ...[6, 7, 89, 202, 9001], // the network between members, and from mongos to a shard
  133, // FailedToSatisfyReadPreference: mongos finds no primary of a shard
  262, // ExceededTimeLimit
  ...[91, 11600, 11602], // ending, or interrupted by a change of its place
  ...[134, 189, 10107, 13435, 13436], // its place in the set, and what the majority has
]);

const NAMESPACE_NOT_FOUND = 26;
const NAMESPACE_EXISTS = 48;
const MAX_TIME_EXPIRED = 50;
const WRITE_CONFLICT = 112;
const DUPLICATE_KEY = 11_000;

const PASSING: Codes = new Set([
  ...[24, 46, WRITE_CONFLICT, 117, 276, 314], // locks, conflicts, index builds
  MAX_TIME_EXPIRED,
  ...[64, 79, 100, 10058], // confirmation
  11601, // interrupted
]);

/** The document, or what an update makes of it, is over 16 MiB. */
const TOO_LARGE: Codes = new Set([10334, 17419, 17420]);

const REJECTED_FOR_GOOD: Codes = new Set([
  13, // Unauthorized
  59, // CommandNotFound
  115, // CommandNotSupported
  8000, // AtlasError
]);
