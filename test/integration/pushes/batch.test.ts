/** Batches (contract 7): each line is a push of its own, and what they share is done once. */
import { hash } from 'node:crypto';
import type { EntryView } from '../../../src/protocol/log-entry';
import { importUsers } from '../../../src/storage/directory/user-admin';
import { bodyModel, entryModel } from '../../../src/storage/push-log/entry';
import { storedMatter } from '../../support/ledger-check';
import { notice, pushLine } from '../../support/push-bodies';
import type { Answer } from '../../support/pusher';
import { type Service, startService } from '../../support/service';

interface Line {
  readonly line: number;
  readonly code: number;
  readonly message: string;
  readonly reason?: string;
  readonly retryable?: boolean;
  readonly requestId: string;
  readonly externalId: string | null;
  readonly matterId?: string;
  readonly outcome?: string;
  readonly replayed?: true;
  readonly errors?: { field: string; message: string }[];
  readonly warnings?: unknown[];
}

interface BatchAnswer extends Omit<Answer, 'data'> {
  readonly data: { total: number; succeeded: number; failed: number; results: Line[] };
}

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const upsert = (externalId: string | undefined, over?: object) =>
  pushLine('upsert', notice(externalId), over);
const titled = (externalId: string, title: string, key?: string) =>
  pushLine('upsert', notice(externalId, { title }), { key });

async function send(body: string | Uint8Array, options: object = {}): Promise<BatchAnswer> {
  return (await service.push('batch', body, options)) as unknown as BatchAnswer;
}
const of = (lines: readonly string[]) => `${lines.join('\n')}\n`;
const shortly = ({ data }: BatchAnswer) =>
  data.results.map(({ line, outcome, reason }) => `${line} ${outcome ?? reason}`);

test('each line has its outcome, its requestId and its entry, in the order of the lines', async () => {
  const lines = [
    upsert('B-1'),
    titled('B-1', 'later'),
    pushLine('status', { externalId: 'B-1', bizStatus: 'DONE' }),
    pushLine('delete', { externalId: 'B-1' }),
    pushLine('delete', { externalId: 'B-1' }),
    upsert('B-1'),
  ];
  const answer = await send(of(lines));
  expect(answer).toMatchObject({ status: 200, code: 0 });
  expect(answer.data).toMatchObject({ total: 6, succeeded: 6, failed: 0 });
  expect(shortly(answer)).toEqual([
    '1 CREATED',
    '2 UPDATED',
    '3 UPDATED',
    '4 DELETED',
    '5 ALREADY_DELETED',
    '6 REVIVED',
  ]);
  const ids = answer.data.results.map(({ requestId }) => requestId);
  expect([...ids].sort()).toEqual(ids);
  const log = entryModel(service.db);
  const entries = await log.find({ batchId: answer.requestId }).sort({ batchLine: 1 }).lean();
  expect(entries.map(({ _id }) => String(_id))).toEqual(ids);
  expect(entries.map(({ batchLine, operation, state }) => [batchLine, operation, state])).toEqual([
    [1, 'upsert', 'PERSISTED'],
    [2, 'upsert', 'PERSISTED'],
    [3, 'status', 'PERSISTED'],
    [4, 'delete', 'PERSISTED'],
    [5, 'delete', 'PERSISTED'],
    [6, 'upsert', 'PERSISTED'],
  ]);
});

test('a line that fails touches no other one', async () => {
  const lines = [
    'no json',
    pushLine('destroy', { externalId: 'F-1' }),
    pushLine('status', { externalId: 'F-missing', bizStatus: 'DONE' }),
    pushLine('upsert', { externalId: 'F-2', matterType: 'NOTICE' }),
    JSON.stringify({
      op: 'upsert',
      body: {
        matterType: 'TODO',
        externalId: 'F-3',
        title: 't',
        parties: [{ username: 'nobody', partyRole: 'ASSIGNEE' }],
      },
    }),
    upsert('F-4'),
  ];
  const answer = await send(of(lines));
  expect(answer).toMatchObject({
    status: 207,
    code: 207,
    message: '部分推送失败',
    reason: 'PARTIAL_FAILURE',
    retryable: false,
  });
  expect(shortly(answer)).toEqual([
    '1 INVALID_JSON',
    '2 VALIDATION_FAILED',
    '3 MATTER_NOT_FOUND',
    '4 VALIDATION_FAILED',
    '5 UNKNOWN_USER',
    '6 CREATED',
  ]);
  expect(answer.data.results[1]?.errors).toEqual([expect.objectContaining({ field: 'op' })]);
  expect(answer.data.results[3]?.errors).toEqual([expect.objectContaining({ field: 'title' })]);
  expect(answer.data).toMatchObject({ total: 6, succeeded: 1, failed: 5 });
});

test('fields beside op, key and body are named as those of a body are, and rejected where that is asked for', async () => {
  const lines = [
    upsert('U-1', { kee: 'k', title: 'outside' }),
    upsert('U-2'),
    JSON.stringify({ op: 'upsert', body: { matterType: 'NOTICE', externalId: 'U-3' }, x: 1 }),
  ];
  const answer = await send(of(lines));
  expect(shortly(answer)).toEqual(['1 CREATED', '2 CREATED', '3 VALIDATION_FAILED']);
  const warning = { kind: 'UNKNOWN_FIELD', message: expect.stringContaining('已忽略') };
  const ofFirst = [
    { ...warning, field: '(line).kee', suggestion: 'key' },
    { ...warning, field: '(line).title' },
  ];
  expect(answer.data.results.map(({ warnings }) => warnings)).toEqual([
    ofFirst,
    undefined,
    [{ ...warning, field: '(line).x' }],
  ]);
  const entry = await entryModel(service.db).findById(answer.data.results[0]?.requestId).lean();
  expect(entry?.warnings?.map(({ field }) => field)).toEqual(ofFirst.map(({ field }) => field));
  const strict = await send(of(lines), { headers: { 'X-Strict-Fields': 'true' } });
  expect(shortly(strict)).toEqual(['1 VALIDATION_FAILED', '2 UPDATED', '3 VALIDATION_FAILED']);
  expect(strict.data.results[0]?.errors?.map(({ field }) => field)).toEqual([
    '(line).kee',
    '(line).title',
  ]);
});

test('a batch with a key that is sent again takes no second effect', async () => {
  const batch = of([titled('K-1', 'a'), titled('K-1', 'b'), titled('K-2', 'c', 'own key')]);
  const first = await send(batch, { idempotencyKey: 'night 1' });
  expect(shortly(first)).toEqual(['1 CREATED', '2 UPDATED', '3 CREATED']);
  const again = await send(batch, { idempotencyKey: 'night 1' });
  expect(shortly(again)).toEqual(['1 CREATED', '2 UPDATED', '3 CREATED']);
  expect(again.data.results.map(({ replayed }) => replayed)).toEqual([true, true, true]);
  expect(await storedMatter(service.db, 'K-1')).toMatchObject({ title: 'b', revision: 2 });
  const keys = await entryModel(service.db)
    .find({ batchId: first.requestId })
    .sort({ batchLine: 1 })
    .lean();
  expect(keys.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
    'night 1/1',
    'night 1/2',
    'own key',
  ]);
});

test.each([
  ['takes effect over the later ones when its batch is sent again', false, 'old'],
  ['does not where it is older by sourceUpdatedAt', true, 'new'],
])('a line that failed for good %s', async (_what, isDated, title) => {
  const newcomer = `newcomer-${isDated}`;
  const change = (name: string, n: number, username: string) => {
    const body = {
      ...{ matterType: 'NOTICE', externalId: `G-${isDated}`, title: name },
      parties: [{ username, partyRole: 'RECIPIENT' }],
      ...(isDated && { sourceUpdatedAt: 1_700_000_000 + n }),
    };
    return JSON.stringify({ op: 'upsert', body });
  };
  const batch = of([change('old', 1, newcomer), change('new', 2, 'alice')]);
  const idempotencyKey = `night G ${isDated}`;
  expect(shortly(await send(batch, { idempotencyKey }))).toEqual(['1 UNKNOWN_USER', '2 CREATED']);
  await importUsers(service.db, [{ username: newcomer, displayName: 'New' }]);
  const again = await send(batch, { idempotencyKey });
  expect(again.data.results.map(({ replayed }) => replayed)).toEqual([undefined, true]);
  expect(await storedMatter(service.db, `G-${isDated}`)).toMatchObject({ title });
});

test('notices without an id get one each, and the same ones when the same request comes again', async () => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const batch = of([upsert(undefined), upsert(undefined)]);
  const first = await send(batch, { timestamp });
  const ids = first.data.results.map(({ externalId }) => externalId);
  expect(new Set(ids).size).toBe(2);
  const again = await send(batch, { timestamp });
  expect(again.data.results.map(({ externalId }) => externalId)).toEqual(ids);
});

describe('in the push log', () => {
  const ask = async (query: object) => {
    const answer = await service.push('push-logs/query', query, {
      path: '/api/open/push-logs/query',
    });
    return (answer.data as unknown as { entries: EntryView[] }).entries;
  };

  test('the lines of a batch are found by its requestId, and no other ones', async () => {
    const lines = [upsert('Q-1'), 'no json', upsert('Q-2'), upsert('Q-1')];
    const [answer, other] = await Promise.all([send(of(lines)), send(of(lines))]);
    const { requestId: batchId } = answer;
    const ids = answer.data.results.map(({ requestId }) => requestId);
    const found = await ask({ batchId, oldestFirst: true, count: true });
    expect(found.map(({ requestId }) => requestId)).toEqual(ids);
    expect(found.map((entry) => entry.batchLine)).toEqual([1, 2, 3, 4]);
    const narrowed = await ask({ batchId: batchId.toUpperCase(), externalId: 'Q-2' });
    expect(narrowed.map(({ requestId }) => requestId)).toEqual([ids[2]]);
    expect((await ask({ batchId, failed: true })).map(({ batchLine }) => batchLine)).toEqual([2]);
    const single = await service.push('upsert', { matterType: 'NOTICE', title: 't' });
    expect(await ask({ batchId: single.requestId })).toEqual([]);
    expect(await ask({ batchId: other.requestId, limit: 500 })).toHaveLength(4);
  });

  test.each([
    ['', {}, 400, 'EMPTY_BATCH'],
    [Buffer.from([0xff, 0xfe, 0x0a]), {}, 400, 'INVALID_ENCODING'],
    [of([upsert('Q-3')]), { idempotencyKey: 'k'.repeat(250) }, 400, 'VALIDATION_FAILED'],
    [of(Array.from({ length: 1_001 }, (_, n) => `${n}`)), {}, 413, 'TOO_MANY_LINES'],
  ])(
    'one that is rejected for what is in it is there once it is answered (%#)',
    async (body, options, code, reason) => {
      const answers = await Promise.all(Array.from({ length: 30 }, () => send(body, options)));
      for (const { requestId, ...answer } of answers) {
        expect(answer).toMatchObject({ code, reason });
        const [entry] = await ask({ requestId });
        expect(entry).toMatchObject({ requestId, operation: 'matters/batch', reason });
        expect((await ask({ batchId: requestId })).map((one) => one.requestId)).toEqual([
          requestId,
        ]);
      }
    },
  );
});

test('the entry of a batch that has too many line breaks tells what was sent', async () => {
  const body = '\n'.repeat(10_001);
  const answer = await send(body);
  expect(answer).toMatchObject({ code: 413, reason: 'TOO_MANY_LINES' });
  const entry = await entryModel(service.db).findById(answer.requestId).lean();
  expect(entry).toMatchObject({ bodySize: 10_001, bodyHash: hash('sha256', body) });
  expect(await bodyModel(service.db).countDocuments({ _id: answer.requestId })).toBe(1);
});

describe('what is read', () => {
  test('a byte order mark, CRLF, empty lines, and a last line without line feed', async () => {
    const answer = await send(`\ufeff${upsert('R-1')}\r\n\r\n  \n${upsert('R-2')}`);
    expect(shortly(answer)).toEqual(['1 CREATED', '4 CREATED']);
  });

  test('as many lines and as many bytes as it may have', async () => {
    const filler = 'x'.repeat(8_000);
    const lines = Array.from({ length: 1_000 }, (_, n) => upsert(`N-${n}`, { filler }));
    const answer = await send(of(lines).padEnd(8 * 1024 * 1024));
    expect(answer).toMatchObject({ code: 0, data: { total: 1_000, succeeded: 1_000 } });
  });

  test('the same key twice is an error of the second line', async () => {
    const answer = await send(of([titled('D-1', 'a', 'k'), titled('D-2', 'b', 'k')]));
    expect(shortly(answer)).toEqual(['1 CREATED', '2 VALIDATION_FAILED']);
    expect(answer.data.results[1]?.errors).toEqual([expect.objectContaining({ field: 'key' })]);
  });

  test('a line whose body is over the limit of a push', async () => {
    const long = JSON.stringify({
      op: 'upsert',
      body: { matterType: 'NOTICE', externalId: 'L-1', title: 't', filler: 'x'.repeat(1_100_000) },
    });
    const answer = await send(of([long, upsert('L-2')]));
    expect(shortly(answer)).toEqual(['1 BODY_TOO_LARGE', '2 CREATED']);
  });

  test.each([
    ['', 400, 'EMPTY_BATCH'],
    ['\r\n \n', 400, 'EMPTY_BATCH'],
    [Buffer.from([0xff, 0xfe, 0x0a]), 400, 'INVALID_ENCODING'],
    [of(Array.from({ length: 1_001 }, (_, n) => upsert(`M-${n}`))), 413, 'TOO_MANY_LINES'],
    [Buffer.alloc(8 * 1024 * 1024 + 1, 0x20), 413, 'BODY_TOO_LARGE'],
  ])('a batch that cannot be read is rejected as a whole (%#)', async (body, code, reason) => {
    const answer = await send(body);
    expect(answer).toMatchObject({ status: code, code, reason, data: null });
    expect(await entryModel(service.db).countDocuments({ externalId: /^M-/ })).toBe(0);
  });

  test('a wrong signature: nothing is applied', async () => {
    const headers = { 'X-Signature': 'ab'.repeat(32) };
    const answer = await send(of([upsert('S-1')]), { headers });
    expect(answer).toMatchObject({ code: 401, reason: 'SIGNATURE_MISMATCH' });
    await expect(storedMatter(service.db, 'S-1')).rejects.toThrow();
  });
});

test('answers are in English on request, and every line fails for itself in a dry run', async () => {
  const batch = of([upsert('V-1'), 'no json', pushLine('upsert', {})]);
  const path = '/api/open/verify/batch';
  const answer = await send(batch, { path, headers: { 'Accept-Language': 'en' } });
  expect(answer).toMatchObject({ status: 207, code: 207, reason: 'PARTIAL_FAILURE' });
  expect(answer.data).toMatchObject({ total: 3, succeeded: 1, failed: 2 });
  expect(answer.data.results[1]).toMatchObject({ line: 2, code: 400, reason: 'INVALID_JSON' });
  expect(answer.data.results[2]?.errors?.map(({ field }) => field)).toContain('title');
  expect(await entryModel(service.db).countDocuments({ externalId: 'V-1' })).toBe(0);
});
