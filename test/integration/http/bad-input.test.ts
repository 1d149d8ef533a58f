/**
 * Bad input gets a clear error that names the field, and the ledger stays as it was. What is meant to
 * do harm is in hostile-bodies, hostile-json and hostile-operators.
 */
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { KEPT as valid, WRONG } from '../../support/bad-upserts';
import type { PushOptions } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  await service.push('upsert', valid);
});
afterAll(() => service.stop());

const snapshot = () => matterModel(service.db).find().sort({ _id: 1 }).lean();
const BAD: typeof WRONG = [
  ...WRONG,
  // The ledger tells, not the form: the id may be one that the service assigned.
  ['an externalId of the reserved form', { externalId: 'auto:x' }, 'externalId'],
];

test.each(BAD)('%s is rejected by name and changes nothing', async (_what, wrong, field) => {
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

test.each(RAW)('%s is rejected and changes nothing', async (_what, options, code, reason) => {
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
