/** Heavy work is bounded: in all, and for whoever asks for it. */
import { createSlots } from '../../src/reconcile/slots';

const FULL = expect.objectContaining({ reason: 'TOO_MANY_QUERIES', code: 503, retryAfter: 1 });

test('one key takes its share only, and all together take theirs', () => {
  const slots = createSlots({ perKey: 2, total: 3 });
  const releases = [slots.take('a'), slots.take('a')];
  expect(() => slots.take('a')).toThrow(FULL);
  slots.take('b');
  expect(() => slots.take('c')).toThrow(FULL);
  releases[0]?.();
  slots.take('c');
  expect(() => slots.take('a')).toThrow(FULL);
});

test('a slot is given back once, however often that is said', () => {
  const slots = createSlots({ perKey: 1, total: 2 });
  const release = slots.take('a');
  release();
  release();
  slots.take('a');
  slots.take('b');
  expect(() => slots.take('c')).toThrow(FULL);
});
