/** Which failures of a batch leave its outcome unknown, and which only need another try. */
import { mongo } from 'mongoose';
import { LeaseLost } from '../../../src/queue/commands/worker-number';
import { SessionReplaced } from '../../../src/storage/sessions';
import {
  CommitConflict,
  failsWholeBatch,
  isContention,
  isFinal,
  PlanFailed,
} from '../../../workers/failures';

const server = (code: number) => new mongo.MongoServerError({ message: 'x', code });

test.each<[failure: string, error: unknown, whole: boolean, contention: boolean, final: boolean]>([
  ['the database is away', new mongo.MongoNetworkError('x'), true, false, false],
  ['the lease of ids is lost', new LeaseLost('x'), true, false, false],
  ['its batch timed out', new SessionReplaced('x'), true, false, false],
  ['a guard failed', new CommitConflict('x'), false, true, false],
  ['another transaction holds a matter', server(112), false, true, false],
  ['another worker created the matter', server(11000), false, true, false],
  ['a document is too large', server(10334), false, false, true],
  ['operations that cannot be folded', new PlanFailed('x'), false, false, true],
  ['a right that is missing', server(13), false, false, false],
  ['a code that nobody knows', server(999_999), false, false, false],
  ['a defect of ours', new TypeError('x'), false, false, false],
  ['nothing thrown at all', undefined, false, false, false],
])('%s', (_, error, whole, contention, final) => {
  const judged = {
    whole: failsWholeBatch(error),
    contention: isContention(error),
    final: isFinal(error),
  };
  expect(judged).toEqual({ whole, contention, final });
});
