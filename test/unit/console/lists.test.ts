/** The lists of the console: what comes in is shown without a hole, and the longest ones can be scrolled to their end. */
import fc from 'fast-check';
import { createScale } from '../../../browser/console/kit/tall';
import { lookOn } from '../../../browser/console/read/look-on';
import type { LogPage } from '../../../browser/console/read/shapes';
import { NONE, type PushList, withOlder } from '../../../browser/console/screens/pushes/rows';
import { newestOf, withNewest } from '../../../browser/console/screens/pushes/tail';

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

const QUESTION = [{ view: 'all' }];

async function look(before: PushList, askPage: ReturnType<typeof logOf>, wasAway = false) {
  return withNewest(QUESTION, before, await newestOf(QUESTION, before, askPage), wasAway);
}
const numbersOf = ({ rows }: PushList) => rows.map(({ requestId }) => Number(requestId));

describe('what comes in while somebody looks', () => {
  test('is read until what is known', async () => {
    const first = await look(NONE, logOf(4));
    expect(numbersOf(first)).toEqual([4, 3, 2, 1]);
    const later = await look(first, logOf(20));
    expect(numbersOf(later)).toEqual(Array.from({ length: 20 }, (_, n) => 20 - n));
    expect(later.open).toEqual(first.open);
  });

  test('begins the list anew where it is too much, and what is older can be loaded', async () => {
    const later = await look(await look(NONE, logOf(4)), logOf(1_000));
    expect(numbersOf(later)).toEqual(Array.from({ length: 10 * PAGE }, (_, n) => 1_000 - n));
    expect(later.open).toEqual([{ view: 'all', cursor: String(1_000 - 10 * PAGE) }]);
  });

  test('to an empty list can be loaded to its end too', async () => {
    const later = await look(await look(NONE, logOf(0)), logOf(1_000));
    expect(later.open).toEqual([{ view: 'all', cursor: String(1_000 - 10 * PAGE) }]);
  });
});

test('a look that finds nothing new keeps the error for which the list is not at its end', async () => {
  const error = new Error('no answer');
  const before = { ...NONE, open: QUESTION, isLoading: false, error };
  const nothing = sparseLogOf(1_000, () => false);
  expect(await look(before, nothing)).toMatchObject({ rows: [], open: QUESTION, error });
});

/** A log that is looked through `PAGE` entries at a time; only some of them are such as are asked for. */
const sparseLogOf = (count: number, isFound: (n: number) => boolean) => {
  const all = logOf(count);
  return async (body: Record<string, unknown>) => {
    const page = await all(body);
    return { ...page, entries: page.entries.filter(({ requestId }) => isFound(Number(requestId))) };
  };
};

describe('a search whose pages may be empty', () => {
  const load = (list: PushList, askPage: ReturnType<typeof logOf>, onEmpty = (_: PushList) => {}) =>
    lookOn(list, (at) => withOlder(at, askPage), onEmpty);
  const start = { ...NONE, open: QUESTION };

  test('goes on until it finds something, and tells how far it came', async () => {
    const places: unknown[] = [];
    const log = sparseLogOf(30, (n) => n < 20);
    const found = await load(start, log, ({ open }) => places.push(open[0]?.cursor));
    expect(numbersOf(found)).toEqual([19]);
    expect(found).toMatchObject({ isLoading: false, isPaused: false, open: [{ cursor: '18' }] });
    expect(places).toEqual(['27', '24', '21']);
  });

  test('comes to an end where there is nothing', async () => {
    const found = await load(
      start,
      sparseLogOf(30, () => false),
    );
    expect(found).toMatchObject({ rows: [], open: [], isLoading: false, isPaused: false });
  });

  test('asks after many empty pages whether it is to go on, and then does', async () => {
    const log = sparseLogOf(100, (n) => n === 1);
    const paused = await load(start, log);
    expect(paused).toMatchObject({ rows: [], open: [{ cursor: '25' }], isPaused: true });
    const found = await load(paused, log);
    expect(numbersOf(found)).toEqual([1]);
    expect(found).toMatchObject({ open: [], isPaused: false });
  });

  test('tells first what was not recorded, on whichever page it stands', async () => {
    const log = sparseLogOf(9, () => false);
    const counted = async (body: Record<string, unknown>) =>
      body.cursor ? log(body) : { ...(await log(body)), notRecorded: 7 };
    expect(await load(start, counted)).toMatchObject({ notRecorded: 7 });
  });

  test('and is looked at live keeps its rows, and shows what comes', async () => {
    const first = await look(NONE, logOf(2));
    // Ten pages do not lead down to what is known.
    const few = (n: number) => n <= 2 || n === 105;
    const same = await look(first, sparseLogOf(100, few));
    expect(same).toEqual(first);
    expect(numbersOf(await look(same, sparseLogOf(110, few)))).toEqual([105, 2, 1]);
  });

  test('and was not looked at for long has no hole that stays, and shows meanwhile what comes', async () => {
    const first = await look(NONE, logOf(2));
    const few = (n: number) => n <= 2 || n === 60 || n === 105 || n > 110;
    const back = await look(first, sparseLogOf(110, few), true);
    expect(numbersOf(back)).toEqual([105, 2, 1]);
    expect(back.gap).toBeDefined();
    const later = await look(back, sparseLogOf(112, few));
    expect(numbersOf(later)).toEqual([112, 111, 105, 60, 2, 1]);
    let last = later;
    for (let looks = 0; last.gap && looks < 3; looks += 1) {
      last = await look(last, sparseLogOf(112, few));
    }
    expect([numbersOf(last), last.gap]).toEqual([numbersOf(later), undefined]);
  });

  test('and is looked at live before anything was found stays where it came to', async () => {
    const log = sparseLogOf(1_000, (n) => n === 1_000);
    const paused = await load(
      start,
      sparseLogOf(1_000, () => false),
    );
    const same = await look(
      paused,
      sparseLogOf(1_000, () => false),
    );
    expect(same).toMatchObject({ rows: [], open: paused.open, isPaused: true });
    const found = await look(same, log);
    expect(numbersOf(found)).toEqual([1_000]);
    expect(found).toMatchObject({ open: [{ cursor: '970' }], isPaused: false });
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
