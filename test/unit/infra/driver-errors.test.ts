/** What each error of the database's driver means: one table, a column for each judgement. */
import { mongo } from 'mongoose';
import {
  errorsOfDocuments,
  errorText,
  isCausedByDocument,
  isConflict,
  isDuplicateKey,
  isOutage,
  isRejectedPermanently,
  isSocketError,
  isTransient,
  isUnconfirmed,
  throwAsDriverError,
  timeoutCause,
} from '../../../src/infra/driver-errors';

const server = (code: number) => new mongo.MongoServerError({ message: 'x', code });

function labelled(label: string, code?: number) {
  const error = new mongo.MongoServerError({ message: 'x', ...(code && { code }) });
  error.addErrorLabel(label);
  return error;
}

/** As the driver hands on what stopped a bulk write. */
function inBulkWrite(error: Error & { code?: number | string }, writeConcernError?: object) {
  const result = { getWriteConcernError: () => writeConcernError };
  return new mongo.MongoBulkWriteError(error as never, result as never);
}

const socket = () =>
  Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET', syscall: 'write' });
const named = (name: string) =>
  Object.defineProperty(new mongo.MongoError('x'), 'name', { value: name });

const YES = true;
const NO = false;

describe.each<[error: string, of: unknown, outage: boolean, transient: boolean, conflict: boolean]>(
  [
    ['the network', new mongo.MongoNetworkError('x'), YES, YES, NO],
    ['a network timeout', new mongo.MongoNetworkTimeoutError('x'), YES, YES, NO],
    ['no server', new mongo.MongoServerSelectionError('x', {} as never), YES, YES, NO],
    ['no free connection', named('MongoWaitQueueTimeoutError'), YES, YES, NO],
    ['a socket, while a command was written', socket(), YES, YES, NO],
    ['a socket, in a bulk write', inBulkWrite(new mongo.MongoNetworkError('x')), YES, YES, NO],
    ['a new primary', labelled('RetryableWriteError', 10107), YES, YES, NO],
    ['a write that may be retried', labelled('RetryableWriteError'), YES, YES, NO],
    ['a closed client', new mongo.MongoClientClosedError(), YES, NO, NO],
    ['a closed topology', new mongo.MongoTopologyClosedError(), YES, NO, NO],
    ['no connection', new mongo.MongoNotConnectedError('x'), YES, NO, NO],
    ['a transaction broken off', labelled('TransientTransactionError', 251), YES, NO, NO],
    ['a commit of unknown outcome', labelled('UnknownTransactionCommitResult'), YES, NO, NO],
    ['the same, with a conflict', labelled('UnknownTransactionCommitResult', 112), YES, YES, YES],
    ['two transactions at one document', labelled('TransientTransactionError', 112), NO, YES, YES],
    ['the same, in a bulk write', inBulkWrite(server(112)), NO, YES, YES],
    ['a second matter under one key', server(11000), NO, NO, YES],
    ['a command out of time', server(50), NO, YES, NO],
    ['a lock', server(24), NO, YES, NO],
    ['an index build', server(276), NO, YES, NO],
    ['a slow confirmation', server(64), NO, YES, NO],
    ['an interruption', server(11601), NO, YES, NO],
    ['a document too large', server(10334), NO, NO, NO],
    ['a right that is missing', server(13), NO, NO, NO],
    ['an error of ours', new TypeError('x'), NO, NO, NO],
    ['nothing thrown at all', undefined, NO, NO, NO],
  ],
)('%s', (_, error, outage, transient, conflict) => {
  test(`is ${outage ? 'an outage' : 'no outage'}`, () => expect(isOutage(error)).toBe(outage));
  test(`${transient ? 'may' : 'does not'} pass`, () => expect(isTransient(error)).toBe(transient));
  test(`is ${conflict ? 'a conflict' : 'no conflict'}`, () =>
    expect(isConflict(error)).toBe(conflict));
});

test.each([
  ...[6, 7, 89, 133, 202, 262, 9001].map((code) => [code, 'a shard that mongos does not reach']),
  ...[91, 134, 189, 10107, 11600, 11602, 13435, 13436].map((code) => [code, 'a failover']),
] as const)('code %i without a label is an outage, and passes: %s', (code) => {
  expect([isOutage(server(Number(code))), isTransient(server(Number(code)))]).toEqual([true, true]);
});

test.each<[error: string, of: unknown, isFinal: boolean]>([
  ['a document too large', server(10334), YES],
  ['the result of an update too large', server(17419), YES],
  ['the driver found the document too large', new mongo.MongoInvalidArgumentError('x'), YES],
  [
    'larger than the buffer for it',
    Object.assign(new RangeError('x'), { code: 'ERR_OUT_OF_RANGE' }),
    YES,
  ],
  ['a value that has no form in BSON', new mongo.BSON.BSONError('x'), YES],
  ['an error in a bulk write', inBulkWrite(server(10334)), YES],
  ...[2, 13, 121, 371, 8000, 12501, 14031, 999_999].map(
    (code) => [`code ${code}`, server(code), NO] as [string, unknown, boolean],
  ),
  ['an error of ours', new TypeError('x'), NO],
])('%s is caused by the document: %s', (_, error, isFinal) => {
  expect(isCausedByDocument(error)).toBe(isFinal);
});

test('the text of an error has the code of the server and its name', () => {
  const blocked = new mongo.MongoServerError({ message: 'no', code: 371, codeName: 'Blocked' });
  expect(errorText(blocked)).toBe('MongoServerError: no (code 371 Blocked)');
  expect(errorText(new TypeError('x'))).toBe('TypeError: x');
});

test.each([
  [13, 'no right'],
  [59, 'no such command'],
  [115, 'not supported'],
  [8000, 'Atlas does not let one'],
])('code %i is for good: %s', (code) => {
  expect(isRejectedPermanently(server(code))).toBe(true);
});

test.each([
  ['a failure of the moment', server(1)],
  ['the network', new mongo.MongoNetworkError('x')],
  ['a code that is not the server’s', Object.assign(new Error('x'), { code: 13 })],
])('nothing is for good because of %s', (_, error) => {
  expect(isRejectedPermanently(error)).toBe(false);
});

test('a command that is out of time was held, or is written and unconfirmed', () => {
  expect(timeoutCause(server(50))).toBe('locked');
  expect(timeoutCause(inBulkWrite(server(50)))).toBe('locked');
  expect(timeoutCause(inBulkWrite(server(50), { code: 50 }))).toBe('unconfirmed');
  expect(timeoutCause(server(112))).toBeUndefined();
});

test('a bulk write tells which documents failed; an error about all of them names none', () => {
  const writeErrors = [{ index: 3, code: 11000, errmsg: 'twice' }];
  const each = errorsOfDocuments(Object.assign(inBulkWrite(server(11000)), { writeErrors }));
  expect([...each].map(([index, { message }]) => [index, message])).toEqual([[3, 'twice']]);
  expect(isDuplicateKey(each.get(3))).toBe(true);
  expect(errorsOfDocuments(inBulkWrite(server(11000))).size).toBe(0);
  expect(errorsOfDocuments(new mongo.MongoNetworkError('x')).size).toBe(0);
});

test('a bulk write that the majority did not confirm says so', () => {
  expect(isUnconfirmed(inBulkWrite(server(64), { code: 64 }))).toBe(true);
  expect(isUnconfirmed(inBulkWrite(server(64)))).toBe(false);
  expect(isUnconfirmed(server(64))).toBe(false);
});

test('a socket’s own error is known by its system call', () => {
  expect(isSocketError(socket())).toBe(true);
  expect(isSocketError(new mongo.MongoNetworkError('x'))).toBe(false);
  expect(isSocketError({ syscall: 'write' })).toBe(false);
});

test('what the driver fails over in a commit leaves its outcome unknown; its own errors stay', () => {
  const thrownFor = (error: unknown) => {
    try {
      throwAsDriverError(error);
    } catch (thrown) {
      return thrown;
    }
  };
  const own = server(251);
  expect(thrownFor(own)).toBe(own);
  const bug = new TypeError('x');
  expect(thrownFor(bug)).toMatchObject({ name: 'MongoNetworkError', cause: bug });
  expect(isOutage(thrownFor(bug))).toBe(true);
});
