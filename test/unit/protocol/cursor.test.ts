/** Cursors: opaque, bound to their query, and rejected where they are not ours. */
import { decodeCursor, encodeCursor } from '../../../src/protocol/cursor';
import { PushError } from '../../../src/protocol/errors';

const FORM = /^\d{1,5}$/;
const query = { systemCode: 'OA', outcome: 'CREATED' };

function rejection(cursor: string, of: unknown = query): unknown {
  try {
    return decodeCursor(cursor, of, FORM);
  } catch (error) {
    return error instanceof PushError ? error.errors : error;
  }
}

test('a cursor gives its position back to the query that made it', () => {
  expect(decodeCursor(encodeCursor(query, '123'), { ...query }, FORM)).toBe('123');
});

test.each([
  ['of another query', encodeCursor({ ...query, outcome: 'UPDATED' }, '123')],
  ['of another system', encodeCursor({ ...query, systemCode: 'HR' }, '123')],
  ['with a position of another form', encodeCursor(query, '123456')],
  ['with something behind it', `${encodeCursor(query, '123')}!!`],
  ['that is not one', 'abc'],
  ['of operators', '{"$gt":""}'],
])('a cursor %s is rejected, naming the field', (_what, cursor) => {
  expect(rejection(cursor)).toEqual([
    { field: 'cursor', message: expect.any(String), english: expect.any(String) },
  ]);
});
