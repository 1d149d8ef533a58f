/** Which failures of a batch leave its outcome unknown, and which only need another try. */
import { mongo } from 'mongoose';
import { LeaseLost } from '../../../src/queue/worker-number';
import { SessionReplaced } from '../../../src/storage/sessions/session-pool';
import { CommitConflict, failsWholeBatch, isContention } from '../../../workers/failures';

const server = (code: number) => new mongo.MongoServerError({ message: 'x', code });

test.each<[failure: string, error: unknown, whole: boolean, contention: boolean]>([
  ['the database is away', new mongo.MongoNetworkError('x'), true, false],
  ['the lease of ids is lost', new LeaseLost('x'), true, false],
  ['its batch timed out', new SessionReplaced('x'), true, false],
  ['a guard failed', new CommitConflict('x'), false, true],
  ['another transaction holds a matter', server(112), false, true],
  ['another worker created the matter', server(11000), false, true],
  ['a document is too large', server(10334), false, false],
  ['a defect of ours', new TypeError('x'), false, false],
  ['nothing thrown at all', undefined, false, false],
])('%s', (_, error, whole, contention) => {
  expect({ whole: failsWholeBatch(error), contention: isContention(error) }).toEqual({
    whole,
    contention,
  });
});
