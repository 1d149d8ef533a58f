/** What third parties see of their own matters, signed, through HTTP: get, query, diff, digest. */
import { createHash, randomBytes } from 'node:crypto';
import type { ChangesPage, DigestBucket, MatterDigest } from '../../../src/protocol/matter-answers';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { untilKnown } from '../../support/known-client';
import { seedLedger } from '../../support/ledger-seed';
import { todo } from '../../support/push-bodies';
import type { PushOptions } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

let service: SharedService;
let stranger: Partial<PushOptions>;
beforeAll(async () => {
  service = await sharedService();
  const keys = createKeyRing([String(service.env.SECRET_KEYS)]);
  const admin = createClientAdmin(service.db, keys, Date.now);
  const clientId = `stranger-${randomBytes(4).toString('hex')}`;
  const { secret } = await admin.create({ clientId, systemCode: 'OTHER' });
  stranger = { clientId, secret: String(secret) };
  await untilKnown({ url: service.urlOf(), clientId, secret: String(secret) });
});
afterAll(() => service.stop());

const send = async (operation: string, body: object) => {
  const answer = await service.push(operation, body);
  expect(answer).toMatchObject({ code: 0 });
  return answer.data;
};
/** The `data` of a query. */
const ask = async <T>(name: string, body: object, as: Partial<PushOptions> = {}): Promise<T> => {
  const answer = await service.push(name, body, as);
  expect(answer).toMatchObject({ status: 200, code: 0 });
  return answer.data as unknown as T;
};
const idsOf = (page: ChangesPage) => page.matters.map(({ externalId }) => externalId);

describe('get', () => {
  test('shows matters in the order asked, deleted ones too, and names what is not there', async () => {
    const { matterId } = await send(
      'upsert',
      todo('GET-1', { title: '审批 GET-1', bizStatus: 'DONE' }),
    );
    await send('upsert', todo('GET-2'));
    await send('delete', { externalId: 'GET-2' });
    const data = await ask('get', { externalIds: ['GET-2', 'GET-0', 'GET-1', 'GET-2'] });
    expect(data).toEqual({
      matters: [
        expect.objectContaining({
          externalId: 'GET-2',
          phase: 'DELETED',
          deleted: true,
          deletedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        }),
        expect.objectContaining({
          externalId: 'GET-1',
          matterId,
          systemCode: 'TEST',
          title: '审批 GET-1',
          bizStatus: 'DONE',
          deletedAt: null,
        }),
      ],
      missing: ['GET-0'],
    });
    const seen = await ask('get', { externalIds: ['GET-1', 'GET-2'] }, stranger);
    expect(seen).toEqual({ matters: [], missing: ['GET-1', 'GET-2'] });
  });
});

describe('query', () => {
  test('gives what changed, page by page, and where the next query begins', async () => {
    const since = Date.now();
    for (const n of [1, 2, 3, 4, 5]) {
      await send('upsert', todo(`Q-${n}`, { bizType: n % 2 ? 'odd' : 'even' }));
    }
    await send('delete', { externalId: 'Q-1' });
    const pages: string[][] = [];
    let cursor: string | null = null;
    let watermark = '';
    do {
      const body = { updatedFrom: since, limit: 2, cursor };
      const page: ChangesPage = await ask('query', body);
      pages.push(idsOf(page));
      ({ nextCursor: cursor, watermark } = page);
    } while (cursor !== null);
    expect(pages).toEqual([['Q-2', 'Q-3'], ['Q-4', 'Q-5'], ['Q-1']]);
    expect(Date.parse(watermark)).toBe(since);
    const even = await ask<ChangesPage>('query', { updatedFrom: since, bizType: 'even' });
    expect(idsOf(even)).toEqual(['Q-2', 'Q-4']);
    const others = await ask<ChangesPage>('query', { updatedFrom: since }, stranger);
    expect(others).toMatchObject({ matters: [], nextCursor: null });
  });

  test('many matters of one instant are each on one page', async () => {
    const updatedAt = Date.UTC(2020, 0, 1);
    const matters = await seedLedger(service.db, 1_250, (n) => ({
      externalId: `SAME-${n}`,
      updatedAt: updatedAt + Math.floor(n / 1_200),
      bizType: n === 1_249 ? 'last' : null,
    }));
    const window = { updatedFrom: updatedAt, updatedTo: '2020-01-02T00:00:00Z' };
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: ChangesPage = await ask('query', { ...window, limit: 500, cursor });
      seen.push(...idsOf(page));
      cursor = page.nextCursor;
      expect(page.watermark).toBe('2020-01-02T00:00:00.000Z');
    } while (cursor !== null);
    expect(seen).toEqual(matters.map(({ externalId }) => externalId));
    const last = await ask<ChangesPage>('query', { ...window, bizType: 'last' });
    expect(last).toMatchObject({ matters: [{ externalId: 'SAME-1249' }], nextCursor: null });
  });

  test('what was committed late comes with the next query', async () => {
    await send('upsert', todo('LATE-1'));
    const first = await ask<ChangesPage>('query', { updatedFrom: Date.now() - 60_000 });
    const updatedAt = Date.now() - 5_000;
    await seedLedger(service.db, 1, () => ({ externalId: 'LATE-2', updatedAt }));
    const next = await ask<ChangesPage>('query', { updatedFrom: first.watermark });
    expect(idsOf(next)).toContain('LATE-2');
  });
});

test('diff tells in what the ledger differs', async () => {
  const sourceUpdatedAt = '2026-01-02T03:00:00Z';
  const { matterId } = await send('upsert', todo('DIFF-1', { sourceUpdatedAt }));
  await send('upsert', todo('DIFF-2'));
  await send('delete', { externalId: 'DIFF-2' });
  const lines = [
    { externalId: 'DIFF-0', bizStatus: 'PENDING' },
    { externalId: 'DIFF-1', bizStatus: 'DONE', sourceUpdatedAt: '2026-01-02 11:00:01' },
    { externalId: 'DIFF-2', deleted: false },
    { externalId: 'DIFF-3', deleted: true },
  ];
  const here = { bizStatus: 'PENDING', externalStatusCode: null };
  expect(await ask('diff', { lines })).toEqual({
    compared: 4,
    equal: 1,
    differences: [
      { externalId: 'DIFF-0', differences: ['MISSING'], here: null },
      {
        externalId: 'DIFF-1',
        differences: ['STALE_HERE', 'STATUS_DIFFERS'],
        here: { ...here, matterId, sourceUpdatedAt: '2026-01-02T03:00:00.000Z', deleted: false },
      },
      {
        externalId: 'DIFF-2',
        differences: ['DELETED'],
        here: { ...here, matterId: expect.any(String), sourceUpdatedAt: null, deleted: true },
      },
    ],
  });
  const seen = await ask<{ differences: object[] }>('diff', { lines: lines.slice(1, 3) }, stranger);
  expect(seen.differences).toEqual([
    { externalId: 'DIFF-1', differences: ['MISSING'], here: null },
    { externalId: 'DIFF-2', differences: ['MISSING'], here: null },
  ]);
});

describe('digest', () => {
  const DAY_1 = Date.parse('2025-03-01T10:00:00+08:00');
  const DAY_2 = Date.parse('2025-03-02T00:00:00+08:00');
  const lineOf = (externalId: string, instant: number | '', status = 'PENDING', code = '') =>
    `${externalId}\n${status}\n${code}\n${instant}`;
  const hashOf = (...lines: string[]) =>
    lines
      .map((line) => createHash('sha256').update(line).digest('hex').slice(0, 16))
      .reduce((sum, hex) => sum ^ BigInt(`0x${hex}`), 0n)
      .toString(16)
      .padStart(16, '0');

  beforeAll(async () => {
    const at = (externalId: string, bizType: string, more: object) =>
      send('upsert', todo(externalId, { bizType, ...more }));
    await at('DG-1', 'digest-a', { sourceUpdatedAt: DAY_1 });
    await at('DG-2', 'digest-a', { sourceUpdatedAt: DAY_2 - 1, bizStatus: 'DONE' });
    await at('DG-3', 'digest-a', { sourceUpdatedAt: DAY_2, externalStatusCode: '已批' });
    await at('DG-4', 'digest-b', { sourceUpdatedAt: DAY_1 });
    await at('DG-5', 'digest-b', {});
    await at('DG-6', 'digest-a', { sourceUpdatedAt: DAY_1 });
    await send('delete', { externalId: 'DG-6' });
  });
  const first = [lineOf('DG-1', DAY_1), lineOf('DG-2', DAY_2 - 1, 'DONE')];
  const second = lineOf('DG-3', DAY_2, 'PENDING', '已批');
  const bucket = (bizType: string, day: string | null, ...lines: string[]): DigestBucket => ({
    bizType,
    day,
    count: lines.length,
    hash: hashOf(...lines),
  });

  test('is what the caller computes, by bizType and day, without the deleted', async () => {
    const digest = await ask<MatterDigest>('digest', { bizType: 'digest-a' });
    expect(digest).toEqual({
      timeZone: 'Asia/Shanghai',
      total: { count: 3, hash: hashOf(...first, second) },
      buckets: [
        bucket('digest-a', '2025-03-01', ...first),
        bucket('digest-a', '2025-03-02', second),
      ],
    });
    const all = await ask<MatterDigest>('digest', {});
    expect(all.buckets).toEqual(
      expect.arrayContaining([
        bucket('digest-b', null, lineOf('DG-5', '')),
        bucket('digest-b', '2025-03-01', lineOf('DG-4', DAY_1)),
      ]),
    );
  });

  test('of days leaves out what has no day; of the open what is concluded', async () => {
    const day = { fromDay: '2025-03-01', toDay: '2025-03-01' };
    const ofDay = await ask<MatterDigest>('digest', day);
    expect(ofDay.buckets).toEqual([
      bucket('digest-a', '2025-03-01', ...first),
      bucket('digest-b', '2025-03-01', lineOf('DG-4', DAY_1)),
    ]);
    const open = await ask<MatterDigest>('digest', { ...day, bizType: 'digest-a', open: true });
    expect(open.buckets).toEqual([bucket('digest-a', '2025-03-01', first[0] as string)]);
    const since = await ask<MatterDigest>('digest', { fromDay: '2025-03-02', bizType: 'digest-a' });
    expect(since.total).toEqual({ count: 1, hash: hashOf(second) });
  });

  test('of another system is empty', async () => {
    expect(await ask('digest', {}, stranger)).toEqual({
      timeZone: 'Asia/Shanghai',
      total: { count: 0, hash: '0000000000000000' },
      buckets: [],
    });
  });
});

describe('bad input', () => {
  const many = Array.from({ length: 1_001 }, (_, n) => `B-${n}`);
  const line = { externalId: 'B-1' };
  test.each<[string, object, string[]]>([
    ['get', { externalIds: many.slice(0, 501) }, ['externalIds']],
    ['get', { externalIds: ['B-1', 2] }, ['externalIds[1]']],
    ['query', { cursor: 'x' }, ['cursor']],
    ['query', { updatedFrom: '2026-01-02', limit: 'all' }, ['updatedFrom', 'limit']],
    ['query', { updatedFrom: 1_800_000_000, updatedTo: 1_700_000_000 }, ['updatedTo']],
    ['diff', { lines: many.map((externalId) => ({ externalId })) }, ['lines']],
    ['diff', { lines: [line, { externalId: 'B-2' }, line] }, ['lines[2].externalId']],
    ['diff', { lines: [{ ...line, bizStatus: 1 }] }, ['lines[0].bizStatus']],
    ['digest', { fromDay: '2026-02-30' }, ['fromDay']],
    ['digest', { fromDay: '2026-01-02', toDay: '2026-01-01' }, ['toDay']],
  ])('%s names what is wrong', async (name, body, fields) => {
    const errors = fields.map((field) => ({ field, message: expect.any(String) }));
    const rejection = { status: 400, code: 400, reason: 'VALIDATION_FAILED', errors };
    expect(await service.push(name, body)).toMatchObject(rejection);
  });

  test('a cursor belongs to its query and its system', async () => {
    await seedLedger(service.db, 3, (n) => ({ externalId: `CURSOR-${n}`, updatedAt: n }));
    const body = { updatedTo: 1_000, limit: 1 };
    const { nextCursor: cursor } = await ask<ChangesPage>('query', body);
    const errors = [{ field: 'cursor', message: expect.any(String) }];
    expect(await service.push('query', { updatedTo: 2_000, limit: 1, cursor })).toMatchObject({
      code: 400,
      errors,
    });
    expect(await service.push('query', { ...body, cursor }, stranger)).toMatchObject({ errors });
  });

  test('a body of a million lines is too large for a diff', async () => {
    const lines = '{"externalId":"HD-1"}\n'.repeat(1_000_000);
    // Who stands still for two seconds while it sends may lose the answer.
    const answer = await until('the answer', () => service.push('diff', lines).catch(() => false));
    expect(answer).toMatchObject({ status: 413, code: 413 });
  });
});
