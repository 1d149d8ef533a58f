/** The lists of the console: what comes in is shown without a hole, and the longest ones can be scrolled to their end. */
import fc from 'fast-check';
import { newestOf, withNewest } from '../../public/console/push-list';
import type { LogPage } from '../../public/console/shapes';
import { createScale } from '../../public/console/tall';

const PAGE = 3;
const idOf = (n: number) => String(n).padStart(24, '0');

/** A log of so many pushes, asked page by page. */
const logOf = (count: number) => async (body: Record<string, unknown>) => {
  const from = Number(body.cursor ?? count);
  const numbers = Array.from({ length: Math.min(PAGE, from) }, (_, n) => from - n);
  const next = from - numbers.length;
  return {
    entries: numbers.map((n) => ({ requestId: idOf(n) })),
    nextCursor: next > 0 ? String(next) : null,
  } as unknown as LogPage;
};

type List = Parameters<typeof withNewest>[1];
const NONE: List = { rows: [], open: [], notRecorded: 0, isLoading: false };
const QUESTION = [{ view: 'all' }];

async function look(before: List, count: number): Promise<List> {
  const newest = before.rows[0]?.requestId ?? '';
  return withNewest(QUESTION, before, await newestOf(QUESTION, newest, logOf(count)));
}
const numbersOf = ({ rows }: List) => rows.map(({ requestId }) => Number(requestId));

describe('what comes in while somebody looks', () => {
  test('is read until what is known', async () => {
    const first = await look(NONE, 4);
    expect(numbersOf(first)).toEqual([4, 3, 2, 1]);
    const later = await look(first, 20);
    expect(numbersOf(later)).toEqual(Array.from({ length: 20 }, (_, n) => 20 - n));
    expect(later.open).toEqual(first.open);
  });

  test('begins the list anew where it is too much, and what is older can be loaded', async () => {
    const later = await look(await look(NONE, 4), 1_000);
    expect(numbersOf(later)).toEqual(Array.from({ length: 10 * PAGE }, (_, n) => 1_000 - n));
    expect(later.open).toEqual([{ view: 'all', cursor: String(1_000 - 10 * PAGE) }]);
  });

  test('to an empty list can be loaded to its end too', async () => {
    const later = await look(await look(NONE, 0), 1_000);
    expect(later.open).toEqual([{ view: 'all', cursor: String(1_000 - 10 * PAGE) }]);
  });
});

describe('a list that is higher than a browser lets it be', () => {
  const rows = fc.integer({ min: 1, max: 2_000_000 });
  const rowHeight = fc.constantFrom(36, 56, 132);

  test('is scrolled from its first row to its last one', () => {
    fc.assert(
      fc.property(rows, rowHeight, (count, height) => {
        const view = 640;
        const scale = createScale(count, height, view);
        expect(scale.height).toBeLessThanOrEqual(8_000_000);
        expect(scale.placeOf(0, 0)).toBe(0);
        const end = Math.max(0, scale.height - view);
        // The last row ends where the element does.
        expect(scale.placeOf(count - 1, end) + height).toBeCloseTo(scale.height, 3);
        const middle = Math.floor(count / 2) * height;
        expect(scale.offsetAt(scale.scrollTopAt(middle))).toBeCloseTo(middle, 3);
      }),
    );
  });

  test('and one that is not is left as it is', () => {
    const scale = createScale(100_000, 36, 640);
    expect([scale.height, scale.placeOf(7, 123.4), scale.offsetAt(99)]).toEqual([
      3_600_000, 252, 99,
    ]);
  });
});
