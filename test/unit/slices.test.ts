/** Slices give everything in order, once, and never ask for much at a time. */
import fc from 'fast-check';
import { readSlices } from '../../src/slices';

const DAY = 86_400_000;
const START = 1_000 * DAY;

async function readAll(
  direction: 'older' | 'newer',
  places: readonly number[],
  end: number | undefined = direction === 'newer' ? START + 100 * DAY : undefined,
) {
  const asked: number[] = [];
  const sorted = [...places].sort((a, b) => (direction === 'older' ? b - a : a - b));
  const read = async (lower = -Infinity, upper = Infinity, most = 0) => {
    const found = sorted.filter((place) => place >= lower && place < upper);
    asked.push(found.length);
    return { items: found.slice(0, most), isCut: found.length > most };
  };
  const placeAfter = (place: number) => (direction === 'older' ? place : place + 1);
  const shift = (place: number, by: number) => place + by;
  const items: number[] = [];
  const range = { direction, start: START, end, read, placeAfter, shift };
  for await (const slice of readSlices<number, number>(range)) items.push(...slice);
  return { items, sorted, asked };
}

const spread = fc.uniqueArray(fc.integer({ min: START - 90 * DAY, max: START - 1 }), {
  maxLength: 300,
});

test.each(['older', 'newer'] as const)(
  '%s: everything comes, in order, once',
  async (direction) => {
    await fc.assert(
      fc.asyncProperty(spread, async (places) => {
        const there = places.map((p) => (direction === 'older' ? p : p + 90 * DAY));
        const { items, sorted } = await readAll(direction, there);
        expect(items).toEqual(sorted);
      }),
      { numRuns: 50 },
    );
  },
);

test('an end that is given is kept', async () => {
  const places = [START - 5_000, START - 4_999, START - 10];
  expect((await readAll('older', places, START - 4_999)).items).toEqual([
    START - 10,
    START - 4_999,
  ]);
});

test('a long empty time costs few reads', async () => {
  const { asked } = await readAll('older', [START - 80 * DAY]);
  expect(asked.length).toBeLessThan(20);
});

test('however much there is, slices stay small', async () => {
  const places = Array.from({ length: 40_000 }, (_, n) => START - 1 - n * 50);
  const { items, asked } = await readAll('older', places);
  expect(items).toHaveLength(40_000);
  expect(Math.max(...asked)).toBeLessThan(10_000);
});

test('more than a slice may hold in one moment comes all the same', async () => {
  const places = Array.from({ length: 12_000 }, (_, n) => START - 20_000 + n);
  expect((await readAll('older', places)).items).toHaveLength(12_000);
  const later = places.map((place) => place + 30_000);
  expect((await readAll('newer', later)).items).toHaveLength(12_000);
});
