/** Ids: unique, increasing, whatever the clock does. */
import fc from 'fast-check';
import { createSnowflakes, MAX_WORKERS } from '../../../src/storage/ledger';
import { NOW } from '../../support/builders';

const workers = fc.integer({ min: 0, max: MAX_WORKERS - 1 });
/** Jumps of the clock, forwards and back, with a burst of ids after each. */
const jumps = fc.array(
  fc.record({
    jump: fc.integer({ min: -5_000, max: 5_000 }),
    ids: fc.integer({ min: 1, max: 50 }),
  }),
  { maxLength: 30 },
);

test('within a process every id is greater than the one before', () => {
  fc.assert(
    fc.property(workers, jumps, (worker, steps) => {
      let now = NOW;
      const next = createSnowflakes(
        () => worker,
        () => now,
      );
      let last = next();
      for (const { jump, ids } of steps) {
        now += jump;
        for (let made = 0; made < ids; made += 1) {
          const id = next();
          if (id <= last) throw new Error(`${id} after ${last}`);
          last = id;
        }
      }
    }),
  );
});

test('more than a millisecond can hold are still unique and increasing', () => {
  const next = createSnowflakes(
    () => 5,
    () => NOW,
  );
  const ids = Array.from({ length: 10_000 }, next);
  expect(new Set(ids).size).toBe(10_000);
  expect(ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? id))).toBe(true);
});

test('workers with different numbers never make the same id', () => {
  fc.assert(
    fc.property(workers, workers, jumps, (one, other, steps) => {
      fc.pre(one !== other);
      let now = NOW;
      const clock = () => now;
      const makers = [createSnowflakes(() => one, clock), createSnowflakes(() => other, clock)];
      const ids: bigint[] = [];
      for (const { jump, ids: count } of steps) {
        now += jump;
        for (let made = 0; made < count; made += 1) ids.push(...makers.map((make) => make()));
      }
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 30 },
  );
});

test('an id is a positive 64-bit number that tells its worker', () => {
  const year2090 = Date.UTC(2090, 0, 1);
  for (const now of [NOW, year2090]) {
    const id = createSnowflakes(
      () => 1_023,
      () => now,
    )();
    expect(id > 0n && id < 2n ** 63n).toBe(true);
    expect((id >> 12n) & 1_023n).toBe(1_023n);
  }
});

test('a greater id was made later', () => {
  const at = (now: number) =>
    createSnowflakes(
      () => 9,
      () => now,
    )();
  expect(at(NOW + 1) > at(NOW)).toBe(true);
});

test('no id is made while no worker number is held', () => {
  const next = createSnowflakes(
    () => {
      throw new Error('the lease is lost');
    },
    () => NOW,
  );
  expect(next).toThrow('the lease is lost');
});
