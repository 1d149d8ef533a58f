/** What callers saw of a worker that was cut off: how long pushes took, and which of them failed. */
import { cutOffReport, seenOf } from '../../../tools/chaos/cut-off';
import type { AttemptEnd } from '../../../tools/chaos/history';

const FROM = 100_000;
const well = { kind: 'answered', code: 0 } as AttemptEnd;
const failed = { kind: 'answered', code: 504 } as AttemptEnd;

/** A push by its times from the cut on. */
const push = (sent: number, took: number, end: AttemptEnd = well) => ({
  sentAt: FROM + sent,
  endedAt: FROM + sent + took,
  end,
});
const before = [push(-900, 20), push(-800, 20)];

test('the first three seconds are the time to notice it', () => {
  const seen = seenOf(
    [...before, push(10, 2_000), push(500, 2_000, failed), push(3_100, 30)],
    FROM,
  );
  expect(seen).toEqual({ usual: 20, later: 30, failures: 0, disturbed: 2_500 });
  expect(cutOffReport([{ cut: 'hanging', ...seen }]).passed).toBe(true);
});

test('a push that fails later, and one that takes more than twice as long, are misses', () => {
  const late = seenOf([...before, push(1_000, 10_000, failed), push(3_100, 30)], FROM);
  expect(late).toMatchObject({ failures: 1, disturbed: 11_000 });
  expect(cutOffReport([{ cut: 'hanging', ...late }]).passed).toBe(false);
  const slow = seenOf([...before, push(3_100, 41)], FROM);
  expect(cutOffReport([{ cut: 'refused', ...slow }]).passed).toBe(false);
});
