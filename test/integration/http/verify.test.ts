/** A dry run says what the push would be told, and leaves no trace. */
import { createHash } from 'node:crypto';
import { mongo } from 'mongoose';
import { entryModel } from '../../../src/storage/push-log/entry';
import { KEPT, WRONG } from '../../support/bad-upserts';
import type { PushOptions } from '../../support/pusher';
import { type SharedService, startService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
let began: Date;
beforeAll(async () => {
  began = new Date();
  service = await sharedService();
  await service.push('upsert', KEPT);
});
afterAll(() => service.stop());

const path = '/api/open/verify';
const verify = (operation: unknown, push: unknown, more: Partial<PushOptions> = {}) =>
  service.push('', { operation, push }, { path, ...more });

/**
 * Every document of every collection that a push may write: its id, and a digest of all of it. Rejections
 * of the file before are recorded up to a second late; they were received before this file began.
 */
async function everything(): Promise<string[][]> {
  const received = { receivedAt: { $gte: began } };
  const all = await Promise.all(
    Object.entries({ matters: {}, push_log: received, push_bodies: received }).map(
      ([name, filter]) => service.db.collection(name).find(filter).sort({ _id: 1 }).toArray(),
    ),
  );
  const digest = (it: object) =>
    createHash('sha256').update(mongo.BSON.serialize(it)).digest('hex');
  return all.map((documents) => documents.map((it) => `${it._id} ${digest(it)}`));
}

/** What the answer says, but for what is of the request itself. */
const told = ({ code, message, reason, retryable, errors, data, status }: Answered) => ({
  ...{ code, message, reason, retryable, errors, data, status },
});
type Answered = Awaited<ReturnType<typeof verify>>;

let before: string[][];
beforeEach(async () => {
  before = await everything();
});

test('the collections that are looked at are those that a push writes', async () => {
  expect(before.map((documents) => documents.length)).toEqual([1, 1, 1]);
  await service.push('upsert', { ...KEPT, externalId: 'SEEN' });
  expect(await everything()).not.toEqual(before);
});

describe('a push that would be accepted', () => {
  test.each<[string, object]>([
    ['upsert', { ...KEPT, externalId: 'DRY', title: 'changed' }],
    ['status', { externalId: 'KEPT', bizStatus: 'DONE' }],
    ['reopen', { externalId: 'NOT-THERE' }],
    ['delete', { externalId: 'KEPT' }],
  ])('%s is valid, and nothing is written', async (operation, push) => {
    const answer = await verify(operation, push);
    const { externalId } = push as { externalId: string };
    expect(answer).toMatchObject({ status: 200, code: 0 });
    expect(answer.data).toEqual({ valid: true, externalId, warnings: [] });
    expect(await everything()).toEqual(before);
  });

  test('has the warnings of the push', async () => {
    const push = { ...KEPT, bizStatus: 'ODD', initiatorUsername: 'nobody' };
    const dry = await verify('upsert', push);
    expect(dry.data.warnings).toHaveLength(2);
    expect(await everything()).toEqual(before);
    expect((await service.push('upsert', push)).data.warnings).toEqual(dry.data.warnings);
  });

  test('without an id has none yet', async () => {
    const { data } = await verify('upsert', { matterType: 'NOTICE', title: 'news' });
    expect(data).toEqual({ valid: true, externalId: null, warnings: [] });
  });

  test('can be sent in the same second: the signature is another one', async () => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const push = { ...KEPT, externalId: 'BOTH' };
    expect(await verify('upsert', push, { timestamp })).toMatchObject({ code: 0 });
    const sent = await service.push('upsert', push, { timestamp });
    expect(sent.data).toMatchObject({ outcome: 'CREATED' });
  });
});

describe('a push that would be rejected', () => {
  test.each(WRONG)('%s: the same answer, and nothing is written', async (_what, wrong, field) => {
    const push = { ...KEPT, title: 'changed', ...wrong };
    const dry = await verify('upsert', push);
    expect(dry).toMatchObject({ status: 400, code: 400 });
    expect(dry.errors?.map((error) => error.field)).toContain(field);
    expect(await everything()).toEqual(before);
    expect(told(dry)).toEqual(told(await service.push('upsert', push)));
  });

  test.each(['status', 'reopen', 'delete'])('%s: the same answer', async (operation) => {
    // Its own name in it: the three would have one signature otherwise.
    const push = { externalId: '', bizStatus: 'no', sourceUpdatedAt: 'never', operation };
    const dry = await verify(operation, push);
    expect(dry).toMatchObject({ code: 400, reason: 'VALIDATION_FAILED' });
    expect(await everything()).toEqual(before);
    expect(told(dry)).toEqual(told(await service.push(operation, push)));
  });

  test('its idempotency key is looked at too, together with the body', async () => {
    const headers = { 'X-Idempotency-Key': '' };
    const push = { ...KEPT, title: '' };
    const dry = await verify('upsert', push, { headers });
    expect(dry.errors?.map(({ field }) => field)).toEqual(['X-Idempotency-Key', 'title']);
    expect(told(dry)).toEqual(told(await service.push('upsert', push, { headers })));
  });
});

describe('a dry run itself', () => {
  test.each<[string, unknown, string[]]>([
    ['no operation', { push: KEPT }, ['operation']],
    ['an unknown operation', { operation: 'merge', push: KEPT }, ['operation']],
    ['no push', { operation: 'upsert' }, ['push']],
    ['a list for a push', { operation: 'upsert', push: [] }, ['push']],
    ['nothing', {}, ['operation', 'push']],
  ])('with %s is rejected by name', async (_what, body, fields) => {
    const answer = await service.push('', body, { path });
    expect(answer).toMatchObject({ code: 400, reason: 'VALIDATION_FAILED' });
    expect(answer.errors?.map(({ field }) => field)).toEqual(fields);
    expect(await everything()).toEqual(before);
  });

  test('is signed, and JSON', async () => {
    expect(await verify('delete', KEPT, { secret: 'wrong' })).toMatchObject({
      code: 401,
      reason: 'SIGNATURE_MISMATCH',
    });
    expect(await service.push('', '[]', { path })).toMatchObject({ reason: 'INVALID_JSON' });
  });
});

test('a dry run counts against the rate of its client', async () => {
  const web = await startService({ env: { RATE_LIMIT: '1', RATE_BURST: '2' }, workers: 0 });
  try {
    const send = (n: number) =>
      web.push('', { operation: 'delete', push: { externalId: 'A', n } }, { path });
    // More than a machine that stands still for seconds lets in between them.
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => send(n)));
    expect(answers.map(({ code }) => code).sort()).toEqual(expect.arrayContaining([0, 429]));
    const [allowed] = answers.filter(({ code }) => code === 0);
    expect(allowed?.headers['ratelimit-policy']).toBe('"client";q=2;w=2');
    const recorded = await entryModel(web.db)
      .find({ state: { $ne: 'REFUSED' } })
      .lean();
    expect(recorded).toEqual([]);
  } finally {
    await web.stop();
  }
});
