/**
 * Bad input gets a clear error that names the field, and the ledger stays as it was. What is meant to
 * do harm is in hostile-bodies, hostile-json and hostile-operators.
 */
import { matterModel } from '../../src/ledger/matter-model';
import { entryModel } from '../../src/push-log/entry-model';
import type { PushOptions } from '../support/pusher';
import { type Service, startService } from '../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService();
  await service.push('upsert', valid);
}, 60_000);
afterAll(() => service.stop());

const valid = {
  matterType: 'TODO',
  externalId: 'KEPT',
  title: 'as it was',
  parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
};
const snapshot = () => matterModel(service.db).find().sort({ _id: 1 }).lean();
const nested = (levels: number) => JSON.parse(`${'[1,'.repeat(levels)}1${']'.repeat(levels)}`);
const tomorrow = Date.now() + 25 * 3_600_000;

/** What is wrong, in an upsert of a matter that is there, and the field that the error must name. */
const WRONG: readonly [string, object, string][] = [
  ['no matterType', { matterType: undefined }, 'matterType'],
  ['an unknown matterType', { matterType: 'TASK' }, 'matterType'],
  ['no title', { title: undefined }, 'title'],
  ['a title that is cleared', { title: null }, 'title'],
  ['a title of 513', { title: 'x'.repeat(513) }, 'title'],
  ['a TODO without externalId', { externalId: undefined }, 'externalId'],
  ['an externalId of 129', { externalId: 'x'.repeat(129) }, 'externalId'],
  ['a line feed in the externalId', { externalId: 'KE\nPT' }, 'externalId'],
  ['an externalId of the reserved form', { externalId: 'auto:x' }, 'externalId'],
  ['a summary of 2,001', { summary: 'x'.repeat(2001) }, 'summary'],
  ['a content of 65,537', { content: 'x'.repeat(65_537) }, 'content'],
  ['a javascript: URL', { pcUrl: 'javascript:alert(1)' }, 'pcUrl'],
  ['a data: URL', { mobileUrl: 'DATA:text/html,x' }, 'mobileUrl'],
  ['a URL of 2,049', { pcUrl: `https://x/${'x'.repeat(2039)}` }, 'pcUrl'],
  ['a bizType of 65', { bizType: 'x'.repeat(65) }, 'bizType'],
  ['a priority of 33', { priority: 'x'.repeat(33) }, 'priority'],
  ['a bizStatus in lower case', { bizStatus: 'done' }, 'bizStatus'],
  ['a bizStatus of 65', { bizStatus: 'X'.repeat(65) }, 'bizStatus'],
  ['a deadline that is no date', { deadlineAt: 'soon' }, 'deadlineAt'],
  ['a sourceUpdatedAt that is no time', { sourceUpdatedAt: 'yesterday' }, 'sourceUpdatedAt'],
  ['a sourceUpdatedAt of tomorrow', { sourceUpdatedAt: tomorrow }, 'sourceUpdatedAt'],
  ['a payloadJson that is no JSON', { payloadJson: '{' }, 'payloadJson'],
  ['a payloadJson of 65,537', { payloadJson: `"${'x'.repeat(65_535)}"` }, 'payloadJson'],
  ['replaceParties without parties', { replaceParties: true, parties: undefined }, 'parties'],
  ['replaceParties as text', { replaceParties: 'true' }, 'replaceParties'],
  ['a party without role', { parties: [{ username: 'alice' }] }, 'parties[0].partyRole'],
  [
    'an unknown role',
    { parties: [{ username: 'alice', partyRole: 'BOSS' }] },
    'parties[0].partyRole',
  ],
  [
    'a username of 65',
    { parties: [{ username: 'x'.repeat(65), partyRole: 'CC' }] },
    'parties[0].username',
  ],
  [
    'an unknown user',
    { parties: [{ username: 'nobody', partyRole: 'CC' }] },
    'parties[0].username',
  ],
  [
    '501 parties',
    { parties: Array.from({ length: 501 }, (_, n) => ({ username: `u${n}`, partyRole: 'CC' })) },
    'parties',
  ],
  [
    'an unknown initiator of a draft',
    { bizStatus: 'DRAFT', initiatorUsername: 'nobody' },
    'initiatorUsername',
  ],
  ['33 levels', { extra: nested(32) }, '(body)'],
];

test.each(WRONG)('%s is refused by name and changes nothing', async (_what, wrong, field) => {
  const before = await snapshot();
  const answer = await service.push('upsert', { ...valid, title: 'changed', ...wrong });
  expect(answer).toMatchObject({ status: 400, code: 400, retryable: false });
  expect(answer.errors?.map((error) => error.field)).toContain(field);
  for (const { message } of answer.errors ?? []) expect(message).not.toBe('');
  expect(await snapshot()).toEqual(before);
  const entry = await entryModel(service.db).findById(answer.requestId).lean();
  expect(entry).toMatchObject({ state: 'REFUSED', result: answer.reason });
});

const RAW: readonly [string, Partial<PushOptions>, number, string][] = [
  ['half a document', { body: '{"matterType":"TODO"' }, 400, 'INVALID_JSON'],
  ['an array', { body: '[]' }, 400, 'INVALID_JSON'],
  ['null', { body: 'null' }, 400, 'INVALID_JSON'],
  [
    'an idempotency key of 256',
    { headers: { 'X-Idempotency-Key': 'k'.repeat(256) } },
    400,
    'VALIDATION_FAILED',
  ],
  ['an empty idempotency key', { headers: { 'X-Idempotency-Key': '' } }, 400, 'VALIDATION_FAILED'],
  [
    'two idempotency keys',
    { headers: { 'X-Idempotency-Key': ['a', 'b'] } },
    400,
    'VALIDATION_FAILED',
  ],
];

test.each(RAW)('%s is refused and changes nothing', async (_what, options, code, reason) => {
  const before = await snapshot();
  const answer = await service.push('status', { externalId: 'KEPT', bizStatus: 'DONE' }, options);
  expect(answer).toMatchObject({ status: code, code, reason });
  expect(await snapshot()).toEqual(before);
});

test('every problem of a request is named at once', async () => {
  const body = { matterType: 'X', title: 1, parties: [{ username: 2 }], pcUrl: 'data:' };
  const headers = { 'X-Idempotency-Key': '' };
  const answer = await service.push('upsert', body, { headers });
  expect(answer.errors?.map(({ field }) => field)).toEqual(
    expect.arrayContaining([
      'X-Idempotency-Key',
      'matterType',
      'title',
      'pcUrl',
      'parties[0].username',
      'parties[0].partyRole',
    ]),
  );
});

test('what the contract does not know is ignored, systemCode among it', async () => {
  const answer = await service.push('upsert', { ...valid, systemCode: 'OTHER', unknown: { a: 1 } });
  expect(answer.code).toBe(0);
  expect(await matterModel(service.db).countDocuments({ systemCode: 'OTHER' })).toBe(0);
});
