/** What is drawn from a seed can be drawn again, by each part of a run for itself. */
import fc from 'fast-check';
import { createRandom, type Random } from '../../../tools/harness/random';

const draw = (random: Random, count = 20) =>
  Array.from({ length: count }, () => random.whole(0, 1_000_000));

test('a seed gives the same sequence everywhere', () => {
  const random = createRandom('1');
  expect(draw(random, 4)).toEqual([314157, 350203, 103930, 474403]);
  expect(random.real(0, 1)).toBe(0.029492208672098896);
  expect(random.shuffled(['a', 'b', 'c', 'd', 'e']).join('')).toBe('bcade');
});

test('a fork depends on its name and the seed, not on what was drawn before', () => {
  const fresh = createRandom('seed').fork('caller 1');
  const used = createRandom('seed');
  draw(used);
  const numbers = draw(fresh);
  expect(draw(used.fork('caller 1'))).toEqual(numbers);
  expect(draw(used.fork('caller 2'))).not.toEqual(numbers);
  expect(draw(createRandom('other').fork('caller 1'))).not.toEqual(numbers);
});

test('numbers stay in their span, and both ends of a whole one are reached', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer(), fc.nat({ max: 5 }), (seed, min, width) => {
      const random = createRandom(seed);
      const wholes = new Set(Array.from({ length: 200 }, () => random.whole(min, min + width)));
      expect([...wholes].sort((a, b) => a - b)).toEqual(
        Array.from({ length: width + 1 }, (_, n) => min + n),
      );
      const real = random.real(min, min + width);
      expect(real).toBeGreaterThanOrEqual(min);
      expect(real).toBeLessThanOrEqual(min + width);
    }),
    { numRuns: 50 },
  );
});

test('a weight says how often an item is picked; 0 is never', () => {
  const random = createRandom('weights');
  const counts = { often: 0, rare: 0, never: 0 };
  const items = [
    ['never', 0],
    ['often', 9],
    ['rare', 1],
  ] as const;
  for (let n = 0; n < 2_000; n += 1) counts[random.weighted(items)] += 1;
  expect(counts.never).toBe(0);
  expect(counts.often / counts.rare).toBeGreaterThan(6);
  expect(counts.often / counts.rare).toBeLessThan(14);
});

test('a shuffle keeps every item, and leaves the list as it was', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.integer()), (seed, items) => {
      const before = [...items];
      const shuffled = createRandom(seed).shuffled(items);
      expect(items).toEqual(before);
      expect([...shuffled].sort()).toEqual([...items].sort());
    }),
  );
});

test('nothing can be picked from nothing', () => {
  const random = createRandom('');
  expect(() => random.pick([])).toThrow(RangeError);
  expect(() => random.weighted([['never', 0]])).toThrow(RangeError);
});
