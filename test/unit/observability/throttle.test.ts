/** What keeps spans from the collector does not fill the log. */
import { throttle } from '../../../src/observability/tracing/export';

test('the first is told at once, then one a minute, with how many were not', () => {
  let now = 0;
  const told: [string, number][] = [];
  const tell = throttle(
    (what, suppressed) => told.push([what, suppressed]),
    () => now,
  );
  tell('first');
  for (let i = 0; i < 500; i += 1) {
    now += 100;
    tell(`number ${i}`);
  }
  expect(told).toEqual([['first', 0]]);
  now = 60_000;
  tell('a minute later');
  expect(told).toEqual([
    ['first', 0],
    ['a minute later', 500],
  ]);
});
