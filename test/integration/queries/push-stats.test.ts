/** push-logs/stats: how many pushes ended how, counted as they end, those that were shed too. */
import { randomBytes } from 'node:crypto';
import type { PushStats } from '../../../src/protocol/push-stats';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { untilKnown } from '../../support/known-client';
import { untilFarFromMidnight } from '../../support/midnight';
import { todo } from '../../support/push-bodies';
import { push } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

const NOBODY = { parties: [{ username: 'nobody', partyRole: 'ASSIGNEE' }] };

let service: SharedService;
/** A client whose system nobody else has: counts of other files come in late. */
let who: { clientId: string; secret: string };
const admin = () =>
  createClientAdmin(service.db, createKeyRing([service.env.SECRET_KEYS ?? '']), Date.now);
const send = (operation: string, body: unknown, more: object = {}) =>
  push({ url: service.urlOf(), ...who, operation, body, ...more });
const ask = async <T>(name: string, body: object): Promise<T> => {
  const answer = await send('', body, { path: `/api/open/${name}` });
  if (answer.code !== 0) throw new Error(JSON.stringify(answer));
  return answer.data as unknown as T;
};
const stats = (body: object = {}) => ask<PushStats>('push-logs/stats', body);
const upsert = (externalId: string, more: object = {}, options: object = {}) =>
  send('upsert', todo(externalId, more), options);

beforeAll(async () => {
  service = await sharedService();
  const clientId = `counted-${randomBytes(4).toString('hex')}`;
  const { secret } = await admin().create({ clientId, systemCode: clientId });
  who = { clientId, secret: secret ?? '' };
  await untilKnown({ url: service.urlOf(), ...who });
  // Otherwise two days have a row of the same pushes.
  await untilFarFromMidnight();
  await upsert('C-1', NOBODY);
  await upsert('C-2', NOBODY);
  await upsert('C-1', {}, { idempotencyKey: 'C-1/1' });
  await upsert('C-1', {}, { idempotencyKey: 'C-1/1' });
  await send('status', { externalId: 'C-4', bizStatus: 'DONE' });
});
afterAll(() => service.stop());

test('pushes are counted as they end, by operation, outcome and reason, in whatever steps', async () => {
  const counted = await until('the counts', async () => {
    const all = await stats({ by: 'day' });
    return all.total.pushes >= 5 && all;
  });
  expect(counted.total).toMatchObject({ pushes: 5, succeeded: 2, failed: 3, notRecorded: 0 });
  expect(counted.total.p50Ms).toBeGreaterThan(0);
  expect(counted.complete).toBe(true);
  const told = counted.rows.map(({ operation, outcome, reason, pushes }) =>
    [operation, outcome, reason, pushes].join(' '),
  );
  expect(told.sort()).toEqual([
    'status  MATTER_NOT_FOUND 1',
    'upsert  UNKNOWN_USER 2',
    'upsert CREATED  1',
    'upsert REPLAYED  1',
  ]);
  // The pushes may be of two minutes, and of two hours.
  for (const steps of [{}, { by: 'minute' }]) {
    const { total, rows } = await stats(steps);
    expect(total).toMatchObject({ pushes: 5, succeeded: 2, failed: 3 });
    expect(rows.reduce((sum, { pushes }) => sum + pushes, 0)).toBe(5);
  }
});

test('a question about one reason, one operation or another time counts these alone', async () => {
  const some = await stats({ reason: 'UNKNOWN_USER', operation: 'upsert' });
  expect(some.total).toMatchObject({ pushes: 2, succeeded: 0, failed: 2 });
  const both = await stats({ reason: ['UNKNOWN_USER', 'MATTER_NOT_FOUND'], outcome: 'CREATED' });
  expect(both.total).toMatchObject({ pushes: 4, succeeded: 1, failed: 3 });
  const before = await stats({ to: Date.now() - 2 * 86_400_000 });
  expect(before).toMatchObject({ total: { pushes: 0, p50Ms: null }, rows: [] });
});

test('pushes that are shed in crowds are counted too, and the log says how many it does not have', async () => {
  await admin().pause(who.clientId, 'a test');
  try {
    await until('the pause', async () => (await upsert('C-6')).reason === 'CLIENT_PAUSED');
    await Promise.all(Array.from({ length: 160 }, () => upsert('C-6')));
  } finally {
    await admin().resume(who.clientId);
  }
  const reason = 'CLIENT_PAUSED';
  const { pushes, notRecorded } = await until('their counts', async () => {
    const { total } = await stats({ reason });
    return total.pushes > 160 && total;
  });
  expect(pushes).toBeGreaterThan(160);
  expect(notRecorded).toBeGreaterThan(0);
  // Each is in the log, or among those of which the log says that it has no entry.
  await until('all of them', async () => {
    const page = await ask<{ entries: unknown[]; notRecorded?: number }>('push-logs/query', {
      reason,
      limit: 500,
    });
    return page.entries.length + (page.notRecorded ?? 0) === pushes;
  });
  const ofOne = await ask('push-logs/query', { externalId: 'C-6' });
  expect(ofOne).not.toHaveProperty('notRecorded');
});

test('a wrong signature of a known client counts as its push, and a stranger is not counted', async () => {
  await upsert('C-7', {}, { secret: 'wrong' });
  await upsert('C-7', {}, { clientId: 'nobody-knows' });
  const reason = 'SIGNATURE_MISMATCH';
  await until('its count', async () => (await stats({ reason })).total.pushes === 1);
  const counts = service.db.collection('push_counts');
  expect(await counts.findOne({ clientId: 'nobody-knows' })).toBeNull();
});

test('a window that is too long for its steps is rejected, not cut in silence', async () => {
  const body = { by: 'minute', from: Date.now() - 3 * 86_400_000 };
  const answer = await send('', body, { path: '/api/open/push-logs/stats' });
  expect(answer).toMatchObject({ code: 400, reason: 'VALIDATION_FAILED' });
  expect(answer.errors).toEqual([{ field: 'from', message: expect.any(String) }]);
});
