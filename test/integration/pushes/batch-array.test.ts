/** A batch may be a JSON array: its elements are pushes like the lines of NDJSON (contract 7.1). */
import type { BatchData, VerifiedBatch } from '../../../src/protocol/batch';
import { bodyModel, entryModel, storedBytes } from '../../../src/storage/push-log/entry';
import { storedMatter } from '../../support/ledger-check';
import { notice, pushLine } from '../../support/push-bodies';
import type { Answer } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service.stop());

type BatchAnswer = Omit<Answer, 'data'> & { readonly data: BatchData };

async function send(body: string | Uint8Array, options: object = {}): Promise<BatchAnswer> {
  return (await service.push('batch', body, options)) as unknown as BatchAnswer;
}
const upsert = (externalId: string, more?: object) => pushLine('upsert', notice(externalId), more);
const shortly = ({ data }: BatchAnswer) =>
  data.results.map(({ line, outcome, reason }) => `${line} ${outcome ?? reason}`);

async function entriesOf({ requestId }: BatchAnswer) {
  const batchId = requestId;
  return entryModel(service.db).find({ batchId }).sort({ batchLine: 1 }).lean();
}

test('each element has its outcome and its entry, with its number as the line', async () => {
  const body = '{\n  "matterType": "NOTICE",\n  "externalId": "E-1", "title": "],["\n}';
  const elements = [
    `{ "op": "upsert", "key": "own",\n"body": ${body}\n}`,
    pushLine('status', { externalId: 'E-1', bizStatus: 'DONE' }),
    pushLine('delete', { externalId: 'E-1' }),
  ];
  const key = { idempotencyKey: 'night' };
  const answer = await send(`\ufeff [ ${elements.join('\n,\n')} ]\n`, key);
  expect(answer).toMatchObject({ status: 200, code: 0, data: { total: 3, succeeded: 3 } });
  expect(shortly(answer)).toEqual(['1 CREATED', '2 UPDATED', '3 DELETED']);
  const entries = await entriesOf(answer);
  expect(
    entries.map(({ batchLine, operation, idempotencyKey }) => [
      batchLine,
      operation,
      idempotencyKey,
    ]),
  ).toEqual([
    [1, 'upsert', 'own'],
    [2, 'status', 'night/2'],
    [3, 'delete', 'night/3'],
  ]);
  const stored = await bodyModel(service.db).findById(entries[0]?._id).lean();
  expect(stored && String(storedBytes(stored.body))).toBe(body);
});

test('the array again, or as NDJSON, with its key: nothing takes a second effect', async () => {
  const lines = [upsert('K-1'), pushLine('status', { externalId: 'K-1', bizStatus: 'DONE' })];
  const key = { idempotencyKey: 'again' };
  const first = await send(`[${lines}]`, key);
  for (const body of [`[${lines}]`, `[ ${lines.join(' ,\n')}]`, lines.join('\n')]) {
    const again = await send(body, key);
    expect(again.data.results.map(({ replayed }) => replayed)).toEqual([true, true]);
    expect(shortly(again)).toEqual(shortly(first));
  }
  expect((await storedMatter(service.db, 'K-1')).revision).toBe(2);
});

test('an element that fails is that line; the others are applied', async () => {
  const elements = [
    upsert('P-1'),
    '7',
    '{"op":"drop","body":{}}',
    '{"a":NaN}',
    pushLine('upsert', {}),
    upsert('P-6'),
  ];
  const answer = await send(`[${elements}]`);
  expect(answer).toMatchObject({ status: 207, code: 207, reason: 'PARTIAL_FAILURE' });
  expect(shortly(answer)).toEqual([
    '1 CREATED',
    '2 INVALID_JSON',
    '3 VALIDATION_FAILED',
    '4 INVALID_JSON',
    '5 VALIDATION_FAILED',
    '6 CREATED',
  ]);
  expect(await entriesOf(answer)).toHaveLength(6);
});

test('a body of an element that failed is sent again as it was', async () => {
  const body =
    '{\n"matterType": "TODO", "externalId": "RS-1", "title": "t",\r\n"parties": [{"username": "late", "partyRole": "CC"}]}';
  const failed = await send(`[\n{"op":"upsert","body":${body}}\n]`);
  expect(shortly(failed)).toEqual(['1 UNKNOWN_USER']);
  const [entry] = await entriesOf(failed);
  const set = [{ field: 'parties[].username', value: 'alice' }];
  const answer = await send(
    JSON.stringify({ requestIds: [String(entry?._id)], dryRun: false, set }),
    {
      path: '/api/open/push-logs/resend',
    },
  );
  expect(answer).toMatchObject({ code: 0 });
  expect(await storedMatter(service.db, 'RS-1')).toMatchObject({ title: 't' });
});

test.each([
  ['broken', `[${upsert('W-1')},${upsert('W-2')}`, 400, 'INVALID_JSON', /element 3,/],
  [
    'with garbage after it',
    `[${upsert('W-1')}]${upsert('W-2')}`,
    400,
    'INVALID_JSON',
    /element 2,/,
  ],
  ['empty', '[]', 400, 'EMPTY_BATCH', undefined],
  [
    'not UTF-8',
    Buffer.concat([Buffer.from(`[${upsert('W-1')},"`), Buffer.from([0xff, 0x22, 0x5d])]),
    400,
    'INVALID_ENCODING',
    /line 2/,
  ],
  [
    'too long',
    `[${Array.from({ length: 1_001 }, (_, n) => upsert(`W-${n}`))}]`,
    413,
    'TOO_MANY_LINES',
    /1000 lines/,
  ],
] as const)('an array that is %s is rejected as a whole', async (_, body, code, reason, told) => {
  const headers = { 'Accept-Language': 'en' };
  for (const path of ['/api/open/matters/batch', '/api/open/verify/batch']) {
    const answer = await send(body, { path, headers });
    expect(answer).toMatchObject({ status: code, code, reason, data: null });
    if (told) expect(answer.errors).toMatchObject([{ message: expect.stringMatching(told) }]);
  }
  expect(await entryModel(service.db).countDocuments({ externalId: /^W-/ })).toBe(0);
});

test('a dry run of an array checks each element, and as many as there may be', async () => {
  const path = '/api/open/verify/batch';
  const elements = Array.from({ length: 1_000 }, (_, n) => (n === 4 ? '{}' : upsert(`D-${n}`)));
  const answer = await send(`[${elements}]`, { path });
  const { total, failed, results } = answer.data as unknown as VerifiedBatch;
  expect({ total, failed }).toEqual({ total: 1_000, failed: 1 });
  expect(results[4]).toMatchObject({ line: 5, code: 400 });
});
