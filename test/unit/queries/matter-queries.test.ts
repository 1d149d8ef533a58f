/** The queries about matters: what they answer, and how pages follow each other. */
import type { Matter } from '../../../src/domain/matter';
import { createMatterQueries } from '../../../src/queries/matter-queries';
import type { ChangedFilter, MatterReader } from '../../../src/storage/ledger/read-matters';
import { aMatter, NOW } from '../../support/builders';

const ZONE = 'Asia/Shanghai';
const many = <T>(count: number, make: (n: number) => T) =>
  Array.from({ length: count }, (_, n) => make(n));
const ids = (count: number) => many(count, (n) => `HD-${n}`);

/** A ledger in memory, in the order of its changes. */
function ledgerOf(matters: readonly Matter[]) {
  const asked: ChangedFilter[] = [];
  const from = async function* <T>(found: readonly T[]) {
    yield* found;
  };
  const own = (systemCode: string) => matters.filter((matter) => matter.systemCode === systemCode);
  const reader: MatterReader = {
    find: async () => undefined,
    all: () => from(matters),
    byKeys: (systemCode, keys) =>
      from(
        own(systemCode)
          .filter(({ externalId }) => keys.includes(externalId))
          .reverse(),
      ),
    forComparison: (systemCode, keys) =>
      from(
        own(systemCode)
          .filter(({ externalId }) => keys.includes(externalId))
          .reverse(),
      ),
    changed: (systemCode, filter) => {
      asked.push(filter);
      const { from: start = 0, to = Number.POSITIVE_INFINITY, after, limit } = filter;
      const found = own(systemCode).filter(({ updatedAt, matterId }) => {
        if (updatedAt < start || updatedAt >= to) return false;
        if (!after || updatedAt > after.updatedAt) return true;
        return updatedAt === after.updatedAt && matterId > after.matterId;
      });
      return from(found.slice(0, limit));
    },
    search: async (systemCode, _, { after, limit }) => {
      const found = own(systemCode).filter(({ matterId }) => !after || matterId > after.matterId);
      const positions = found.slice(0, limit);
      const next = found.length > limit ? positions.at(-1) : undefined;
      return { positions, next, examined: found.length };
    },
    // In an order of its own.
    byIds: (systemCode, asked) =>
      from(
        own(systemCode)
          .filter(({ matterId }) => asked.includes(matterId))
          .reverse(),
      ),
    open: (systemCode) => from(own(systemCode)),
    forDigest: (systemCode) => from(own(systemCode).filter(({ deleted }) => !deleted)),
  };
  const queries = createMatterQueries({ reader, timeZone: ZONE, clock: () => NOW });
  const ask = (name: keyof typeof queries, body: Record<string, unknown>) =>
    queries[name]({ systemCode: 'OA', body });
  const page = (body: Record<string, unknown>) => queries.query({ systemCode: 'OA', body });
  return { ask, page, asked };
}

/** Three matters to an instant, every third of another bizType. */
const changes = (count: number) =>
  many(count, (n) =>
    aMatter({
      matterId: BigInt(n + 1),
      externalId: `HD-${n}`,
      updatedAt: NOW - 1_000_000 + Math.floor(n / 3) * 10,
      bizType: n % 3 === 0 ? 'oa' : 'erp',
    }),
  );

describe('pages of changes', () => {
  test.each([1, 2, 3, 4, 7, 20, 100])(
    'of %i matters meet each matter once, in order',
    async (limit) => {
      const matters = changes(20);
      const { page } = ledgerOf([...matters, aMatter({ systemCode: 'ERP', updatedAt: NOW })]);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const next = await page({ limit, cursor });
        expect(next.matters.length).toBeLessThanOrEqual(limit);
        seen.push(...next.matters.map(({ externalId }) => externalId));
        cursor = next.nextCursor;
      } while (cursor !== null);
      expect(seen).toEqual(matters.map(({ externalId }) => externalId));
    },
  );

  test('of one bizType end at a bounded number of matters, found or not', async () => {
    const { page, asked } = ledgerOf(
      many(5_001, (n) => aMatter({ matterId: BigInt(n + 1), bizType: n < 5_000 ? 'erp' : 'oa' })),
    );
    const first = await page({ bizType: 'oa' });
    expect(first).toMatchObject({ matters: [], nextCursor: expect.any(String) });
    const second = await page({ bizType: ' oa ', cursor: first.nextCursor });
    expect(second).toMatchObject({ matters: [{ matterId: '5001' }], nextCursor: null });
    expect(asked.map(({ limit }) => limit)).toEqual([5_001, 5_001]);
  });

  test('of heavy matters are short', async () => {
    const content = '长'.repeat(65_536);
    const { page } = ledgerOf(many(500, (n) => aMatter({ matterId: BigInt(n + 1), content })));
    const { matters, nextCursor } = await page({ limit: 500 });
    expect(matters.length).toBeLessThan(300);
    expect((await page({ limit: 500, cursor: nextCursor })).matters[0]?.matterId).toBe(
      String(matters.length + 1),
    );
  });

  test('of a search are in the order of the search, and short where matters are heavy', async () => {
    const content = '长'.repeat(65_536);
    const { page } = ledgerOf(many(600, (n) => aMatter({ matterId: BigInt(n + 1), content })));
    const seen: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const next = await page({ phase: 'OPEN', limit: 500, cursor });
      expect(next.matters.length).toBeLessThan(300);
      seen.push(...next.matters.map(({ matterId }) => matterId));
      cursor = next.nextCursor;
      pages += 1;
    } while (cursor !== null);
    expect(seen).toEqual(many(600, (n) => String(n + 1)));
    expect(pages).toBeLessThan(6);
  });

  test.each([
    ['of another window', { updatedFrom: 1_600_000_000 }],
    ['of another bizType', { bizType: 'oa' }],
    ['of a search', { username: 'li.lei' }],
    ['of the other order', { newestFirst: true }],
  ])('do not take a cursor %s', async (_, other) => {
    const { page } = ledgerOf(changes(20));
    const { nextCursor: cursor } = await page({ limit: 2 });
    const errors = [{ field: 'cursor', message: expect.any(String) }];
    await expect(page({ ...other, limit: 2, cursor })).rejects.toMatchObject({ errors });
    await expect(page({ limit: 5, cursor })).resolves.toMatchObject({
      matters: many(5, () => ({})),
    });
  });

  test.each(['x', 'AAAA', '游标', `${'A'.repeat(22)}=`, '../../../etc'])(
    'do not take %s for a cursor',
    async (cursor) => {
      const errors = [{ field: 'cursor', message: expect.any(String) }];
      await expect(ledgerOf([]).page({ cursor })).rejects.toMatchObject({ errors });
    },
  );
});

describe('the watermark', () => {
  const iso = (instant: number) => new Date(instant).toISOString();
  test.each([
    ['nothing given: half a minute ago', {}, NOW - 30_000],
    ['an end long ago: the end', { updatedTo: NOW - 60_000 }, NOW - 60_000],
    ['an end just now: half a minute ago', { updatedTo: NOW }, NOW - 30_000],
    ['a beginning long ago', { updatedFrom: NOW - 60_000 }, NOW - 30_000],
    ['a beginning just now: not before it', { updatedFrom: NOW - 1_000 }, NOW - 1_000],
  ])('%s', async (_, body, expected) => {
    expect((await ledgerOf([]).page(body)).watermark).toBe(iso(expected));
  });

  test('is that of the first page on all pages, however long they take', async () => {
    let now = NOW;
    const reader = {
      changed: async function* () {
        yield* changes(5);
      },
    };
    const queries = createMatterQueries({
      reader: reader as unknown as MatterReader,
      timeZone: ZONE,
      clock: () => now,
    });
    const first = await queries.query({ systemCode: 'OA', body: { limit: 2 } });
    now += 600_000;
    const cursor = first.nextCursor;
    const second = await queries.query({ systemCode: 'OA', body: { limit: 2, cursor } });
    expect(second.watermark).toBe(first.watermark);
  });
});

describe('get', () => {
  test('answers in the order asked, each once, and names what is missing', async () => {
    const { ask } = ledgerOf([...changes(3), aMatter({ systemCode: 'ERP', externalId: 'HD-9' })]);
    const externalIds = ['HD-2', 'HD-9', 'HD-0', 'HD-2'];
    const answer = await ask('get', { externalIds });
    expect(answer).toMatchObject({
      matters: [{ externalId: 'HD-2' }, { externalId: 'HD-0' }],
      missing: ['HD-9'],
    });
  });

  test('rejects an answer that would be too heavy', async () => {
    const content = 'x'.repeat(65_536);
    const payloadJson = JSON.stringify('x'.repeat(65_000));
    const { ask } = ledgerOf(changes(500).map((matter) => ({ ...matter, content, payloadJson })));
    const errors = [{ field: 'externalIds', message: expect.any(String) }];
    await expect(ask('get', { externalIds: ids(500) })).rejects.toMatchObject({ errors });
    await expect(ask('get', { externalIds: ids(200) })).resolves.toMatchObject({ missing: [] });
  });
});

test('diff answers for the lines that differ, in the order sent', async () => {
  const { ask } = ledgerOf(changes(4));
  const sent = [
    { externalId: 'HD-3', bizStatus: 'DONE' },
    { externalId: 'HD-9' },
    { externalId: 'HD-1', bizStatus: 'PENDING' },
    { externalId: 'HD-0', sourceUpdatedAt: NOW },
  ];
  const here = {
    bizStatus: 'PENDING',
    externalStatusCode: null,
    sourceUpdatedAt: null,
    deleted: false,
  };
  expect(await ask('diff', { lines: sent })).toEqual({
    compared: 4,
    equal: 1,
    differences: [
      { externalId: 'HD-3', differences: ['STATUS_DIFFERS'], here: { matterId: '4', ...here } },
      { externalId: 'HD-9', differences: ['MISSING'], here: null },
      { externalId: 'HD-0', differences: ['STALE_HERE'], here: { matterId: '1', ...here } },
    ],
  });
});

describe('digest', () => {
  test('counts by bizType, without the deleted, and on demand without the concluded', async () => {
    const [first, second, third, fourth] = changes(4);
    const { ask } = ledgerOf([
      { ...(first as Matter), deleted: true, phase: 'DELETED' },
      { ...(second as Matter), phase: 'CONCLUDED' },
      third as Matter,
      fourth as Matter,
    ]);
    expect(await ask('digest', {})).toMatchObject({
      timeZone: ZONE,
      total: { count: 3 },
      buckets: [
        { bizType: 'erp', day: null, count: 2 },
        { bizType: 'oa', day: null, count: 1 },
      ],
    });
    expect(await ask('digest', { open: true })).toMatchObject({ total: { count: 2 } });
    expect(await ask('digest', { bizType: 'oa' })).toMatchObject({ total: { count: 1 } });
  });

  test('is made for a system one at a time', async () => {
    const { ask } = ledgerOf(changes(3));
    const first = ask('digest', {});
    await expect(ask('digest', {})).rejects.toMatchObject({ reason: 'TOO_MANY_QUERIES' });
    await first;
    await expect(ask('digest', {})).resolves.toMatchObject({ total: { count: 3 } });
  });
});
