/** The bulkhead bounds heavy work: in all, and of each key. */
import { createBulkhead } from '../../../src/queries/bulkhead';

const FULL = expect.objectContaining({ reason: 'TOO_MANY_QUERIES', code: 503, retryAfter: 1 });

test('one key takes its share only, and all together take theirs', () => {
  const bulkhead = createBulkhead({ perKey: 2, total: 3 });
  const releases = [bulkhead.acquire('a'), bulkhead.acquire('a')];
  expect(() => bulkhead.acquire('a')).toThrow(FULL);
  bulkhead.acquire('b');
  expect(() => bulkhead.acquire('c')).toThrow(FULL);
  releases[0]?.();
  bulkhead.acquire('c');
  expect(() => bulkhead.acquire('a')).toThrow(FULL);
});

test('a place is released once, however often release is called', () => {
  const bulkhead = createBulkhead({ perKey: 1, total: 2 });
  const release = bulkhead.acquire('a');
  release();
  release();
  bulkhead.acquire('a');
  bulkhead.acquire('b');
  expect(() => bulkhead.acquire('c')).toThrow(FULL);
});
