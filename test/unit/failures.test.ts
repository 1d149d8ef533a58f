/** Which failures of a batch leave its outcome unknown, and which only need another try. */
import { mongo } from 'mongoose';
import { LeaseLost } from '../../src/queue/worker-number';
import { CommitConflict, isOutage } from '../../workers/failures';

function labelled(label: string, code?: number) {
  const error = new mongo.MongoServerError({ message: 'x', ...(code && { code }) });
  error.addErrorLabel(label);
  return error;
}

/** As the driver hands on what stopped a bulk write. */
function inBulkWrite(error: Error & { code?: number | string }) {
  return new mongo.MongoBulkWriteError(error as never, {} as never);
}

test.each([
  ['the network', new mongo.MongoNetworkError('x')],
  ['a connection that broke in a bulk write', inBulkWrite(new mongo.MongoNetworkError('x'))],
  [
    'a connection that broke while a command was written',
    Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET', syscall: 'write' }),
  ],
  ['a network timeout', new mongo.MongoNetworkTimeoutError('x')],
  ['a closed client', new mongo.MongoClientClosedError()],
  ['a closed topology', new mongo.MongoTopologyClosedError()],
  ['no connection', new mongo.MongoNotConnectedError('x')],
  ['a new primary', labelled('RetryableWriteError', 10107)],
  ['a transaction that was broken off', labelled('TransientTransactionError', 251)],
  ['a commit of unknown outcome', labelled('UnknownTransactionCommitResult')],
  ['a commit of unknown outcome, conflict or not', labelled('UnknownTransactionCommitResult', 112)],
  ['the lease of ids', new LeaseLost('x')],
])('away, or unknown: %s', (_, error) => {
  expect(isOutage(error)).toBe(true);
});

test.each([6, 7, 89, 133, 202, 262, 9001])(
  'away, or unknown: a shard that mongos does not reach, %i',
  (code) => {
    expect(isOutage(new mongo.MongoServerError({ message: 'x', code }))).toBe(true);
  },
);

test.each([91, 134, 189, 10107, 11600, 11602, 13435, 13436])(
  'away, or unknown: a read in a failover, %i, which has no label',
  (code) => {
    expect(isOutage(new mongo.MongoServerError({ message: 'x', code }))).toBe(true);
  },
);

test.each([
  ['a write conflict of two transactions', labelled('TransientTransactionError', 112)],
  ['a second matter under one key', new mongo.MongoServerError({ message: 'x', code: 11000 })],
  [
    'a write conflict in a bulk write',
    inBulkWrite(new mongo.MongoServerError({ message: 'x', code: 112 })),
  ],
  ['a document too large', new mongo.MongoServerError({ message: 'x', code: 10334 })],
  ['a guard that failed', new CommitConflict('x')],
  ['a fault of ours', new TypeError('x')],
  ['nothing thrown at all', undefined],
])('to be tried again group by group: %s', (_, error) => {
  expect(isOutage(error)).toBe(false);
});
