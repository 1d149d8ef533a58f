/** What the console's reconciliation makes of a file and of what the service holds. */
import fc from 'fast-check';
import { csvOf } from '../../../browser/console/kit/save-csv';
import { AskError } from '../../../browser/console/read/ask';
import {
  cellsOf,
  comparableBy,
  compareDigests,
} from '../../../browser/console/screens/reconcile/digest';
import { patiently } from '../../../browser/console/screens/reconcile/patiently';
import { sideText, verdictText } from '../../../browser/console/screens/reconcile/report';
import { inBatches, toLines } from '../../../browser/console/screens/reconcile/send';
import { createDayCalendar } from '../../../src/queries/day-calendar';
import { createBucketDigest } from '../../../src/queries/digest';
import type { ExpectedMatter } from '../../../src/queries/reconcile/expected';

const ZONE = 'Europe/Berlin';
const DAY = 86_400_000;
const dayOf = createDayCalendar(ZONE);

const row = (fields: object, pushed: object = {}): ExpectedMatter => ({
  kind: 'row',
  expected: { externalId: 'A', ...fields },
  pushed: { ...pushed },
});

describe('digests', () => {
  const matters = fc.array(
    fc.record({
      externalId: fc.string({ unit: 'binary', minLength: 1 }),
      bizStatus: fc.constantFrom('PENDING', 'DONE'),
      externalStatusCode: fc.option(fc.string()),
      sourceUpdatedAt: fc.option(fc.integer({ min: 0, max: 20 * DAY })),
      bizType: fc.constantFrom(null, 'a', 'b'),
    }),
    { maxLength: 12 },
  );

  test('of the same matters are the service’s own, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(matters, async (all) => {
        const here = createBucketDigest(dayOf);
        for (const matter of all) here.add(matter);
        const rows = all.map(({ bizType, ...fields }) => row(fields, { bizType }));
        const { cells, byHash } = await compareDigests(rows, here.buckets(), { timeZone: ZONE });
        expect(cells.filter((it) => byHash && !it.isSame)).toEqual([]);
        expect(cells.reduce((sum, { yours }) => sum + yours, 0)).toBe(all.length);
      }),
      { numRuns: 300 },
    );
  });

  test('are others where one matter is another, and where there is one more', async () => {
    const stated = { bizStatus: 'PENDING', externalStatusCode: null, sourceUpdatedAt: DAY };
    const here = createBucketDigest(dayOf);
    here.add({ externalId: 'A', bizType: null, ...stated });
    const compared = async (rows: ExpectedMatter[]) =>
      (await compareDigests(rows, here.buckets(), { timeZone: ZONE })).cells;
    const cell = { bizType: null, day: '1970-01-02', yours: 1, here: 1, isSame: true };
    expect(await compared([row(stated)])).toEqual([cell]);
    const other = row({ ...stated, bizStatus: 'DONE' });
    expect(await compared([other])).toEqual([{ ...cell, isSame: false }]);
    const gone = row({ ...stated, externalId: 'B', deleted: true });
    expect(await compared([row(stated), gone])).toEqual([cell]);
    const more = [row(stated), row({ ...stated, externalId: 'B' })];
    expect(await compared(more)).toEqual([{ ...cell, yours: 2, isSame: false }]);
    const later = row({ ...stated, sourceUpdatedAt: 3 * DAY });
    expect(await compared([later])).toEqual([
      { ...cell, day: '1970-01-04', here: 0, isSame: false },
      { ...cell, yours: 0, isSame: false },
    ]);
  });

  test('compare counts alone where the file states less, and nothing without times', () => {
    const full = row({ bizStatus: 'DONE', externalStatusCode: '7', sourceUpdatedAt: 1 });
    expect(comparableBy([full])).toBe('hash');
    expect(comparableBy([full, row({ sourceUpdatedAt: 1 })])).toBe('count');
    expect(comparableBy([full, row({ bizStatus: 'DONE' })])).toBe('count');
    // A file without such a column: what is here may well have a code.
    expect(comparableBy([row({ bizStatus: 'DONE', sourceUpdatedAt: 1 })])).toBe('count');
    expect(comparableBy([row({ bizStatus: 'DONE' })])).toBe('none');
    const bucket = { bizType: null, day: null, count: 1, hash: '0'.repeat(16) };
    const other = { ...bucket, hash: 'f'.repeat(16) };
    expect(cellsOf([bucket], [other], false)).toMatchObject([{ isSame: true }]);
    expect(cellsOf([bucket], [other], true)).toMatchObject([{ isSame: false }]);
  });
});

describe('the report', () => {
  test('is known as UTF-8, and has both sides in one cell each', () => {
    expect(csvOf([['a', '=b'], ['中']])).toBe("\ufeffa,'=b\r\n中\r\n");
    expect(sideText({ title: null, parties: ['CC a', 'CC b'], deleted: false })).toBe(
      'title: –; parties: CC a CC b; deleted: false',
    );
    expect(sideText(null)).toBe('');
  });
});

test('what became of a difference is told in words', () => {
  const fields = ['title: must not be empty'];
  const told = verdictText({ tone: 'bad', reason: 'VALIDATION_FAILED', message: 'no', fields });
  expect(told).toContain('title: must not be empty');
  expect(told).not.toContain('VALIDATION_FAILED');
  expect(verdictText({ tone: 'bad', reason: 'OF_A_NEWER_SERVICE' })).toBe('OF_A_NEWER_SERVICE');
  expect(verdictText({ tone: 'bad', message: 'no' })).toBe('no');
});

describe('batches', () => {
  const push = (externalId: string, title = 't') => ({
    op: 'upsert' as const,
    body: { externalId, title },
  });

  test('have each line once, in their order, with a key of its own, within both limits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 60 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 600, max: 2_000 }),
        (titles, batchLines, batchBytes) => {
          const lines = toLines(
            titles.map((title, n) => push(`M-${n}`, title)),
            'run',
          );
          const batches = inBatches(lines, { batchLines, batchBytes });
          expect(batches.flat()).toEqual(lines);
          for (const batch of batches) {
            const text = batch.map((line) => `${line.text}\n`).join('');
            expect(batch.length).toBeLessThanOrEqual(Math.min(200, batchLines));
            expect(Buffer.byteLength(text)).toBeLessThanOrEqual(batchBytes);
          }
        },
      ),
    );
    const [line] = toLines([push('A')], 'run');
    expect(JSON.parse(line?.text ?? '')).toEqual({ ...push('A'), key: 'run/1' });
  });
});

describe('a question of many', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
  const failing = (retryable: boolean | undefined) => {
    const envelope = { code: 503, message: 'm', data: null, requestId: '', retryable };
    return new AskError(
      retryable === undefined ? { message: 'm' } : { message: 'm', reason: 'R', envelope },
    );
  };

  test('that may be answered later is asked again, five times at most', async () => {
    const later = jest
      .fn()
      .mockRejectedValueOnce(failing(true))
      .mockRejectedValueOnce(failing(undefined));
    const answer = patiently(later.mockResolvedValue('yes'));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await answer).toBe('yes');
    const never = jest.fn().mockRejectedValue(failing(true));
    const refused = expect(patiently(never)).rejects.toThrow('m');
    await jest.advanceTimersByTimeAsync(60_000);
    await refused;
    expect([later.mock.calls.length, never.mock.calls.length]).toEqual([3, 5]);
  });

  test('that is refused for good, or given up, is not', async () => {
    const no = jest.fn().mockRejectedValue(failing(false));
    await expect(patiently(no)).rejects.toThrow('m');
    const stop = new AbortController();
    const stopped = expect(
      patiently(jest.fn().mockRejectedValue(failing(true)), stop.signal),
    ).rejects.toThrow('aborted');
    stop.abort();
    await jest.advanceTimersByTimeAsync(1_000);
    await stopped;
    expect(no).toHaveBeenCalledTimes(1);
  });
});
