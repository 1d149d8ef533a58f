/** push-logs/query through HTTP: the third party asks what became of its pushes. */

import { randomBytes } from 'node:crypto';
import type { EntryView } from '../../../src/protocol/log-entry';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { entryModel } from '../../../src/storage/push-log/entry';
import { untilKnown } from '../../support/known-client';
import { todo } from '../../support/push-bodies';
import { push } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

type LogEntryView = EntryView & { body?: string | null };
interface Page {
  entries: LogEntryView[];
  nextCursor: string | null;
  count?: { value: number; exact: boolean };
  notRecorded?: number;
}

const SYSTEM = 'LOGS';
let service: SharedService;
beforeAll(async () => {
  service = await sharedService(SYSTEM);
});
afterAll(() => service.stop());

const PATH = '/api/open/push-logs/query';
const ask = (body: unknown, who: Partial<Parameters<SharedService['push']>[2]> = {}) =>
  service.push('', body, { path: PATH, ...who });
const query = async (body: unknown, who?: Parameters<typeof ask>[1]): Promise<Page> => {
  const answer = await ask(body, who);
  if (answer.code !== 0) throw new Error(JSON.stringify(answer));
  return answer.data as unknown as Page;
};
const upsert = (
  externalId: string,
  more: object = {},
  options?: Parameters<SharedService['push']>[2],
) => service.push('upsert', todo(externalId, { title: externalId, ...more }), options);
const NOBODY = { username: 'nobody.of.this.name', partyRole: 'ASSIGNEE' };
const only = async (requestId: string) => {
  const { entries } = await query({ requestId });
  expect(entries).toHaveLength(1);
  return entries[0] as LogEntryView;
};

test('a persisted push is found by its request id, with its times in order and what it changed', async () => {
  const sent = { sourceUpdatedAt: '2024-06-01T00:00:00Z' };
  const { requestId, data } = await upsert('L-1', sent, { idempotencyKey: 'L-1/created' });
  const entry = await only(requestId);
  expect(entry).toMatchObject({
    requestId,
    operation: 'upsert',
    externalId: 'L-1',
    idempotencyKey: 'L-1/created',
    attempt: 1,
    state: 'PERSISTED',
    outcome: 'CREATED',
    reason: null,
    matterId: data.matterId,
    revision: 1,
    stale: null,
    secretId: expect.any(String),
    bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(entry.changes).toContainEqual({ field: 'bizStatus', to: 'PENDING' });
  expect(entry).not.toHaveProperty('worker');
  const times = [entry.receivedAt, entry.queuedAt, entry.startedAt, entry.settledAt];
  expect([...times].sort()).toEqual(times);
});

test('a stale push shows the instant that it sent and the one that it met', async () => {
  await upsert('L-2', { sourceUpdatedAt: '2024-06-02T00:00:00Z' });
  const { requestId } = await upsert('L-2', { sourceUpdatedAt: '2024-06-01T00:00:00Z' });
  expect(await only(requestId)).toMatchObject({
    outcome: 'STALE_IGNORED',
    stale: { sent: '2024-06-01T00:00:00.000Z', stored: '2024-06-02T00:00:00.000Z' },
    revision: null,
    changes: [],
  });
});

test('a rejected push names what was wrong, and a mended try under the same key is attempt 2', async () => {
  const key = { idempotencyKey: 'L-3/try' };
  const { requestId } = await upsert('L-3', { parties: 'nobody' }, key);
  expect(await only(requestId)).toMatchObject({
    state: 'REFUSED',
    externalId: 'L-3',
    reason: 'VALIDATION_FAILED',
    outcome: null,
    attempt: 1,
    problems: [{ field: 'parties', message: expect.any(String) }],
  });
  const mended = await upsert('L-3', {}, key);
  expect(await only(mended.requestId)).toMatchObject({
    attempt: 2,
    mark: null,
    outcome: 'CREATED',
  });
  const retried = await upsert('L-3', {}, key);
  expect(await only(retried.requestId)).toMatchObject({
    attempt: 3,
    state: 'REPLAYED',
    duplicateOf: mended.requestId,
  });
  const other = await upsert('L-3', { summary: 'another body' }, key);
  expect(await only(other.requestId)).toMatchObject({ attempt: 4, mark: 'KEY_REUSED' });
  const { entries } = await query({ idempotencyKey: 'L-3/try' });
  expect(entries.map(({ attempt }) => attempt)).toEqual([4, 3, 2, 1]);
});

test('a wrong signature of a known client is found by its reason', async () => {
  const answer = await upsert('L-4', {}, { secret: 'not the secret' });
  expect(answer.reason).toBe('SIGNATURE_MISMATCH');
  // Recorded at some moment of the next second, so that the time of the answer tells nothing.
  await until('its entry', async () => {
    const { entries } = await query({ reason: 'SIGNATURE_MISMATCH' });
    return entries.some(({ requestId }) => requestId === answer.requestId);
  });
});

test('what failed is asked for alone, and by several reasons', async () => {
  const created = await upsert('L-7');
  const invalid = await upsert('L-7', { title: '' });
  const unknown = await upsert('L-7', { initiatorUsername: 'x', parties: [NOBODY] });
  const ids = async (body: object) =>
    (await query({ externalId: 'L-7', ...body })).entries.map(({ requestId }) => requestId);
  const failed = [unknown.requestId, invalid.requestId];
  expect(await ids({ failed: true })).toEqual(failed);
  expect(await ids({ failed: false })).toEqual([...failed, created.requestId]);
  const reasons = ['VALIDATION_FAILED', 'UNKNOWN_USER'];
  expect(await ids({ reason: reasons })).toEqual(failed);
  expect(await ids({ reason: ['UNKNOWN_USER'] })).toEqual([unknown.requestId]);
  expect(await ids({ outcome: ['CREATED', 'UPDATED'] })).toEqual([created.requestId]);
  const { entries } = await query({ failed: true, limit: 2 });
  expect(entries.map(({ requestId }) => requestId)).toEqual(failed);
});

test('the body comes along where it is asked for', async () => {
  const text = '{ "matterType":"TODO",  "externalId":"L-5","title":"请假" }';
  const { requestId } = await service.push('upsert', text);
  const { entries } = await query({ requestId, includeBody: true });
  expect(entries[0]?.body).toBe(text);
  expect(await only(requestId)).not.toHaveProperty('body');
});

describe('pages', () => {
  const ids: string[] = [];
  beforeAll(async () => {
    for (let n = 0; n < 25; n += 1) {
      const { requestId } = await service.push('status', { externalId: 'L-P', bizStatus: 'DONE' });
      ids.unshift(requestId);
    }
  });

  const walk = async (filter: object, limit: number) => {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await query({ ...filter, limit, cursor });
      expect(page.entries.length).toBeLessThanOrEqual(limit);
      found.push(...page.entries.map(({ requestId }) => requestId));
      cursor = page.nextCursor ?? undefined;
    } while (cursor);
    return found;
  };

  test.each([
    ['by matter', { externalId: 'L-P' }],
    ['by reason', { reason: 'MATTER_NOT_FOUND' }],
    ['by operation', { operation: 'status' }],
    ['by matter and operation', { externalId: 'L-P', operation: 'status' }],
    ['by reason and operation', { reason: 'MATTER_NOT_FOUND', operation: 'status' }],
  ])('%s: newest first, each once, while others push on', async (_how, filter) => {
    const walking = walk(filter, 7);
    await upsert('L-OTHER');
    expect(await walking).toEqual(ids);
  });

  test('oldest first where that is asked for, with cursors of their own', async () => {
    const filter = { externalId: 'L-P' };
    const oldest = await walk({ ...filter, oldestFirst: true }, 7);
    expect(oldest).toEqual([...ids].reverse());
    const { nextCursor } = await query({ ...filter, limit: 1, oldestFirst: true });
    const answer = await ask({ ...filter, limit: 1, cursor: nextCursor });
    expect(answer).toMatchObject({ code: 400, errors: [{ field: 'cursor' }] });
  });

  test('a window takes what was received in it', async () => {
    const at = async (index: number) => (await only(ids[index] as string)).receivedAt;
    const [from, to] = [await at(20), await at(10)];
    expect(await walk({ from, to, operation: 'status' }, 4)).toEqual(ids.slice(11, 21));
  });

  test('the count is exact where it is asked for', async () => {
    const { count } = await query({ externalId: 'L-P', limit: 1, count: true });
    expect(count).toEqual({ value: 25, exact: true });
    const narrowed = await query({ operation: 'status', reason: 'MATTER_NOT_FOUND', count: true });
    expect(narrowed.count).toEqual({ value: 25, exact: true });
  });

  test('entries of a clock that is ahead are found too', async () => {
    const entries = entryModel(service.db).collection;
    const copy = await entries.findOne({ externalId: 'L-P' });
    const ahead = Math.floor(Date.now() / 1000) + 3_600;
    const _id = new (entryModel(service.db).base.Types.ObjectId)(
      ahead.toString(16) + '0'.repeat(16),
    );
    await entries.insertOne({ ...copy, _id, operation: 'ahead' });
    expect(await walk({ operation: 'ahead' }, 5)).toEqual([String(_id)]);
    await entries.deleteOne({ _id });
  });
});

describe('another client', () => {
  let stranger: { clientId: string; secret: string };
  beforeAll(async () => {
    const keyRing = createKeyRing([String(service.env.SECRET_KEYS)]);
    const admin = createClientAdmin(service.db, keyRing, Date.now);
    // No other file has its name or its system: a wrong signature in its name would be in its log.
    const clientId = `stranger-${randomBytes(4).toString('hex')}`;
    const { secret } = await admin.create({ clientId, systemCode: clientId });
    stranger = { clientId, secret: secret ?? '' };
    await untilKnown({ url: service.urlOf(), ...stranger });
  });

  test('sees nothing of this one, whatever it asks for', async () => {
    const { requestId } = await upsert('L-6', {}, { idempotencyKey: 'L-6/key' });
    const asked = [
      {},
      { requestId },
      { externalId: 'L-6' },
      { idempotencyKey: 'L-6/key' },
      { outcome: 'CREATED' },
      { operation: 'upsert', includeBody: true },
      { systemCode: SYSTEM },
      { clientId: service.clientId },
    ];
    for (const body of asked) {
      const { notRecorded = 0, ...page } = await query({ ...body, count: true }, stranger);
      expect(notRecorded).toBe(0);
      expect(page).toEqual({
        entries: [],
        nextCursor: null,
        count: { value: 0, exact: true },
      });
    }
  });

  test('cannot go on with this one’s cursor', async () => {
    const { nextCursor } = await query({ limit: 1 });
    const answer = await ask({ limit: 1, cursor: nextCursor }, stranger);
    expect(answer).toMatchObject({ code: 400, errors: [{ field: 'cursor' }] });
  });
});

test.each([
  ['requestId', { requestId: 'abc' }],
  ['requestId', { requestId: { $ne: null } }],
  ['externalId', { externalId: ['A'] }],
  ['limit', { limit: 501 }],
  ['limit', { limit: 0 }],
  ['limit', { limit: 51, includeBody: true }],
  ['cursor', { cursor: 'bm90IGEgY3Vyc29y' }],
  ['to', { from: '2024-06-02T00:00:00Z', to: '2024-06-01T00:00:00Z' }],
  ['from', { from: 'yesterday' }],
  ['reason', { outcome: 'CREATED', reason: 'X' }],
  ['state', { state: 'LOST' }],
  ['reason', { reason: [] }],
  ['reason', { reason: ['X', 7] }],
  ['reason', { reason: Array.from({ length: 51 }, (_, n) => `R${n}`) }],
  ['reason', { outcome: ['CREATED'], reason: ['X'] }],
  ['failed', { failed: 'yes' }],
])('a bad %s is rejected by name', async (field, body) => {
  const answer = await ask(body);
  expect(answer).toMatchObject({ code: 400, reason: 'VALIDATION_FAILED' });
  expect(answer.errors?.map((error) => error.field)).toEqual([field]);
});

test('a query has to be signed, and leaves no entry', async () => {
  expect((await ask({}, { secret: 'wrong' })).reason).toBe('SIGNATURE_MISMATCH');
  // The rejection is recorded in the background.
  await until(
    'the rejection',
    async () => (await query({ operation: 'push-logs/query' })).entries[0],
  );
  const own = { clientId: service.clientId };
  const before = await entryModel(service.db).countDocuments(own);
  await query({ limit: 2 });
  expect(await entryModel(service.db).countDocuments(own)).toBe(before);
  const stolen = await push({
    url: service.urlOf(),
    clientId: service.clientId,
    secret: service.secret,
    operation: 'upsert',
    body: 'x'.repeat(1024 * 1024 + 1),
    path: PATH,
  });
  expect(stolen.code).toBe(413);
});
