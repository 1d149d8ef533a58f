/** A misspelt field does not vanish without a word: neither in the answer, nor in the log. */
import type { Warning } from '../../../src/protocol/warnings';
import { matterctl } from '../../support/cli-tool';
import type { PushOptions } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service.stop());

const STRICT = { headers: { 'X-Strict-Fields': 'true' } };
const MISSPELT = {
  matterType: 'TODO',
  externalId: 'TYPO',
  title: 'title',
  partys: [],
  dueAt: null,
  systemCode: 'OTHER',
  parties: [{ username: 'alice', partyRole: 'ASSIGNEE', role: 'x' }],
};
const FOUND = [
  { field: 'partys', kind: 'UNKNOWN_FIELD', suggestion: 'parties' },
  { field: 'dueAt', kind: 'UNKNOWN_FIELD', suggestion: 'deadlineAt' },
  { field: 'systemCode', kind: 'SYSTEM_CODE_IGNORED' },
  { field: 'parties[0].role', kind: 'UNKNOWN_FIELD', suggestion: 'partyRole' },
];
const verify = (push: object, more: Partial<PushOptions> = {}) =>
  service.push('', { operation: 'upsert', push }, { path: '/api/open/verify', ...more });
const entryOf = async (requestId: string) => {
  const answer = await service.push('', { requestId }, { path: '/api/open/push-logs/query' });
  const { entries } = answer.data as unknown as { entries: { warnings: Warning[] }[] };
  return entries[0];
};

test('each is a warning of the push, of its dry run, and of its entry in the log', async () => {
  const answer = await service.push('upsert', MISSPELT);
  expect(answer).toMatchObject({ code: 0, data: { outcome: 'CREATED', warnings: FOUND } });
  expect((await verify(MISSPELT)).data.warnings).toEqual(answer.data.warnings);
  expect((await entryOf(answer.requestId))?.warnings).toEqual(answer.data.warnings);
  const env = { MONGO_URL: service.env.MONGO_URL };
  const { stdout } = await matterctl(['log', 'show', answer.requestId], { env });
  expect(stdout).toMatch(/\nwarnings\n {2}partys: .*parties/);
});

test('a push without any has none', async () => {
  const answer = await service.push('status', { externalId: 'TYPO', bizStatus: 'DONE' });
  expect(answer.data).not.toHaveProperty('warnings');
  expect((await entryOf(answer.requestId))?.warnings).toEqual([]);
});

test('with X-Strict-Fields they are 400, beside every other problem, and nothing is written', async () => {
  const body = { ...MISSPELT, externalId: 'STRICT', pcUrl: 'no URL' };
  const answer = await service.push('upsert', body, STRICT);
  expect(answer).toMatchObject({ code: 400, reason: 'VALIDATION_FAILED', data: null });
  expect(answer.errors?.map(({ field }) => field)).toEqual([
    'pcUrl',
    'partys',
    'dueAt',
    'systemCode',
    'parties[0].role',
  ]);
  expect(answer.errors?.[1]).toEqual({
    field: 'partys',
    message: '未知字段；是否应为 parties？',
  });
  expect((await verify(body, STRICT)).errors).toEqual(answer.errors);
  expect(await service.db.collection('matters').findOne({ externalId: 'STRICT' })).toBeNull();
  const { partys: _, dueAt: __, systemCode: ___, ...right } = MISSPELT;
  const parties = [{ username: 'alice', partyRole: 'ASSIGNEE' }];
  expect(await service.push('upsert', { ...right, parties }, STRICT)).toMatchObject({ code: 0 });
});

test('X-Strict-Fields is true or false', async () => {
  const odd = await service.push('upsert', MISSPELT, { headers: { 'X-Strict-Fields': 'yes' } });
  expect(odd).toMatchObject({ code: 400, errors: [{ field: 'X-Strict-Fields' }] });
  const off = await service.push('upsert', MISSPELT, { headers: { 'X-Strict-Fields': 'false' } });
  expect(off).toMatchObject({ code: 0, data: { warnings: FOUND } });
});

test('where the misspelt field is a required one, the rejection says so', async () => {
  const { title: _, ...rest } = MISSPELT;
  const answer = await service.push('upsert', { ...rest, externalId: 'TITEL', titel: 'title' });
  expect(answer.errors).toMatchObject([{ field: 'title' }]);
  const titel = { field: 'titel', kind: 'UNKNOWN_FIELD', suggestion: 'title' };
  expect(answer).toMatchObject({
    warnings: expect.arrayContaining([expect.objectContaining(titel)]),
  });
  expect((await entryOf(answer.requestId))?.warnings).toContainEqual(
    expect.objectContaining(titel),
  );
});

test('a retry is told again', async () => {
  const more = { idempotencyKey: 'TYPO/1' };
  const body = { ...MISSPELT, externalId: 'TYPO-RETRY' };
  const first = await service.push('upsert', body, more);
  const again = await service.push('upsert', body, more);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(first.data.warnings).toContainEqual(expect.objectContaining({ kind: 'UNKNOWN_FIELD' }));
  expect(again.data.warnings).toEqual(first.data.warnings);
});
