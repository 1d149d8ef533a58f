/** How workers share the partitions: fair, with as few moves as there can be, and at rest once it is fair. */
import fc from 'fast-check';
import { createDampedShare, shareOf } from '../../../src/queue/balance';

const holding = (...held: number[]) => new Map(held.map((partitions, n) => [`w${n}`, partitions]));
const shares = (held: ReadonlyMap<string, number>) =>
  [...held.keys()].map((name) => shareOf(name, held));
const releases = (...held: number[]) => shares(holding(...held)).map(({ release }) => release);

test.each([
  ['one worker keeps all', [32], [0]],
  ['a newcomer is given its share', [32, 0], [16, 0]],
  ['of several the fullest give', [12, 10, 10, 0], [4, 2, 2, 0]],
  ['what cannot be divided stays where most is', [4, 3], [0, 0]],
  ['one too few is mended', [5, 3], [1, 0]],
  ['nothing is shared where there is nothing', [0, 0], [0, 0]],
  ['fewer partitions than workers', [1, 0, 0], [0, 0, 0]],
  ['one worker has the few that there are', [3, 0, 0], [2, 0, 0]],
  ['a tenth of a share is not worth a move', [105, 95], [0, 0]],
])('%s', (_name, held, expected) => {
  expect(releases(...held)).toEqual(expected);
});

test('who has its share takes no more while another one has too few', () => {
  const [full, poor] = shares(holding(32, 0));
  expect(full?.max).toBe(16);
  expect(poor?.max).toBe(17);
  expect(shares(holding(16, 16)).map(({ max }) => max)).toEqual([undefined, undefined]);
});

test('who is not among the living changes nothing', () => {
  expect(shareOf('unknown', holding(9, 0))).toEqual({ release: 0, max: undefined });
});

const held = fc.array(fc.nat(200), { minLength: 1, maxLength: 64 });

test('what is given is what others lack, and afterwards all have the same but for one', () => {
  fc.assert(
    fc.property(held, (partitions) => {
      const now = holding(...partitions);
      const given = shares(now).map(({ release }) => release);
      const total = partitions.reduce((sum, one) => sum + one, 0);
      const floor = Math.floor(total / partitions.length);
      if (given.every((one) => one === 0)) return;
      const lacking = partitions.reduce((sum, one) => sum + Math.max(0, floor - one), 0);
      expect(given.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(lacking);
      partitions.forEach((one, n) => {
        expect(one - (given[n] ?? 0)).toBeLessThanOrEqual(floor + 1);
      });
    }),
  );
});

test('nothing is given at the first look that finds too few, nor right after a gift', () => {
  const share = createDampedShare('w0');
  const uneven = holding(32, 0);
  const gifts = [uneven, uneven, uneven, uneven, holding(16, 16), uneven].map(
    (now) => share(now).release,
  );
  expect(gifts).toEqual([0, 16, 0, 16, 0, 0]);
});
