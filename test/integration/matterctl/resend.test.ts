/** log resend: what was lost on the way is sent again by an operator, in order, once, and logged. */
import { Types } from 'mongoose';
import { auditModel } from '../../../src/storage/audit';
import { matterModel } from '../../../src/storage/ledger/matters';
import { bodyModel, entryModel } from '../../../src/storage/push-log/entry';
import { matterctl } from '../../support/cli-tool';
import { todo } from '../../support/push-bodies';
import type { Answer } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

let service: Service;
/** Requests that nobody took up in time, by a name. */
const lost = new Map<string, Answer>();

type Options = Parameters<Service['push']>[2];
const upsert = (externalId: string, more: object = {}, options: Options = {}) =>
  service.push('upsert', todo(externalId, { title: externalId, ...more }), options);
const lose = async (name: string, sending: Promise<Answer>) => {
  const answer = await sending;
  expect(answer.reason).toBe('CONFIRMATION_TIMEOUT');
  lost.set(name, answer);
};
const matter = (externalId: string) =>
  matterModel(service.db).findOne({ externalId }).lean().exec();
const resend = async (...args: string[]) => {
  const run = await matterctl(['log', 'resend', '--json', ...args], { env: service.env });
  const lines = run.stdout.trim().split('\n').filter(Boolean);
  const parsed = lines.map((line) => JSON.parse(line));
  return { ...run, pushes: parsed.slice(0, -1), summary: parsed.at(-1)?.summary };
};
/** `web` records a rejected signature in the background, at a limited rate, so the entry may come after the answer. */
const isLogged = (requestId: string) =>
  until('its entry', () => entryModel(service.db).findById(requestId).lean());
const only = (name: string) => ['--request-id', String(lost.get(name)?.requestId)];

beforeAll(async () => {
  service = await startService({ workers: 0, env: { SIGNATURE_GRACE: '0' } });
  // Only these callers do not wait for long.
  const web = await service.startWeb({ PUSH_TIMEOUT: '4s' });
  const at = { url: String(web.url) };
  await Promise.all([
    lose('first', upsert('R-1', { title: 'one', bizStatus: 'PENDING' }, at)),
    lose('notice', service.push('upsert', { matterType: 'NOTICE', title: 'no id' }, at)),
    lose('keyed', upsert('R-2', {}, { ...at, idempotencyKey: 'R-2/key' })),
    lose(
      'retried',
      upsert('R-3', { title: 'of the lost one' }, { ...at, idempotencyKey: 'R-3/key' }),
    ),
    lose('gone', upsert('R-4', {}, at)),
    upsert('R-5', {}, { ...at, secret: 'wrong' }).then((answer) => lost.set('forged', answer)),
  ]);
  await lose('second', upsert('R-1', { title: 'two' }, at));
  await lose('third', service.push('status', { externalId: 'R-1', bizStatus: 'DONE' }, at));
  await isLogged(String(lost.get('forged')?.requestId));
  await service.startWorker();
  await bodyModel(service.db).deleteOne({ _id: lost.get('gone')?.requestId });
});
afterAll(() => service.stop());

test('without a place to begin it is rejected: the whole log is never sent again', async () => {
  expect(await resend('--reason', 'CONFIRMATION_TIMEOUT')).toMatchObject({ exitCode: 2 });
});

test('a dry run previews, push by push, and changes nothing', async () => {
  const { exitCode, pushes, summary } = await resend('--from', '1h', '--system-code', 'TEST');
  expect(exitCode).toBe(0);
  const ofFirst = pushes.filter(({ externalId }) => externalId === 'R-1');
  expect(ofFirst.map(({ result }) => result)).toEqual(['CREATED', 'UPDATED', 'UPDATED']);
  expect(ofFirst[2].changes).toEqual([{ field: 'bizStatus', from: 'PENDING', to: 'DONE' }]);
  expect(summary).toMatchObject({
    applied: false,
    pushes: 6,
    changing: 6,
    results: { CREATED: 4, UPDATED: 2 },
    skipped: { BODY_GONE: 1, NOT_AUTHENTICATED: 1 },
  });
  expect(await matterModel(service.db).countDocuments()).toBe(0);
  expect(await auditModel(service.db).countDocuments()).toBe(0);
});

test('a caller’s own retry that came through is not undone: the lost push is left out', async () => {
  const key = { idempotencyKey: 'R-3/key' };
  expect((await upsert('R-3', { title: 'of the lost one' }, key)).data.outcome).toBe('CREATED');
  await upsert('R-3', { title: 'later' });
  // However long ago that was: an answer is repeated for a day only.
  await entryModel(service.db).updateMany(
    { idempotencyKey: 'R-3/key', state: 'PERSISTED' },
    { $set: { settledAt: new Date(Date.now() - 3 * 86_400_000) } },
  );
  const { summary } = await resend(...only('retried'), '--apply');
  expect(summary).toMatchObject({ pushes: 0, skipped: { CALLER_RETRIED: 1 } });
  expect(await matter('R-3')).toMatchObject({ title: 'later' });
});

test('a push that a later push of its matter resolved is left out, unless --again', async () => {
  await upsert('R-11', { title: 'later' });
  const lostFirst = await entryModel(service.db).findOne({ externalId: 'R-11' }).lean();
  if (!lostFirst) throw new Error('the push has no entry');
  // The same push, as if it had failed before.
  const _id = new Types.ObjectId(String(lost.get('first')?.requestId).replace(/.{4}$/, 'fffe'));
  const failed = { state: 'REFUSED', result: 'DATABASE_UNAVAILABLE' } as const;
  await entryModel(service.db).create({ ...lostFirst, _id, ...failed });
  const body = Buffer.from(JSON.stringify(todo('R-11', { title: 'earlier' })));
  await bodyModel(service.db).create({ _id, receivedAt: lostFirst.receivedAt, body });
  const { summary } = await resend('--request-id', String(_id), '--apply');
  expect(summary).toMatchObject({ pushes: 0, skipped: { RESOLVED_SINCE: 1 } });
  expect(await matter('R-11')).toMatchObject({ title: 'later' });
  const again = await resend('--request-id', String(_id), '--again');
  expect(again.summary).toMatchObject({ pushes: 1, results: { UPDATED: 1 } });
  await entryModel(service.db).deleteOne({ _id });
});

test('applied, the lost ones are in the ledger in their order, and the log links them', async () => {
  const from = ['--from', '1h', '--system-code', 'TEST', '--reason', 'CONFIRMATION_TIMEOUT'];
  const { exitCode, pushes, summary } = await resend(...from, '--apply', '--operator', 'li.lei');
  expect(exitCode).toBe(0);
  expect(summary).toMatchObject({ applied: true, pushes: 5, rejected: 0 });
  expect(summary.skipped).toEqual({ BODY_GONE: 1, CALLER_RETRIED: 1 });
  expect(await matter('R-1')).toMatchObject({ title: 'two', bizStatus: 'DONE', revision: 3 });
  const third = pushes.find(({ resentFrom }) => resentFrom === lost.get('third')?.requestId);
  const entry = await entryModel(service.db).findById(third.requestId).lean();
  expect(entry).toMatchObject({ state: 'PERSISTED', result: 'UPDATED', externalId: 'R-1' });
  expect(String(entry?.resentFrom)).toBe(lost.get('third')?.requestId);
  expect(entry?.operator).toMatch(/^li\.lei@./);
  const [newest] = await auditModel(service.db).find().sort({ at: -1, _id: -1 }).lean();
  expect(newest).toMatchObject({
    ...{ operator: 'li.lei', command: 'log resend', subject: 'TEST', outcome: 'DONE' },
    details: { systemCode: 'TEST', result: 'CONFIRMATION_TIMEOUT' },
    result: { pushes: 5, rejected: 0 },
  });
  expect(await bodyModel(service.db).countDocuments({ _id: third.requestId })).toBe(1);

  const again = await resend(...from, '--apply');
  expect(again.summary).toMatchObject({ pushes: 0, skipped: { ALREADY_RESENT: 5, BODY_GONE: 1 } });
});

test('neither resends nor retries that were only answered are sent by a wide selection', async () => {
  const { requestId } = await upsert('R-10', {}, { idempotencyKey: 'R-10/key' });
  await service.push('status', { externalId: 'R-10', bizStatus: 'DONE' });
  const retry = await upsert('R-10', {}, { idempotencyKey: 'R-10/key' });
  expect(retry.headers['idempotency-replayed']).toBe('true');
  const { pushes, summary } = await resend('--from', '1h', '--system-code', 'TEST');
  const chosen = pushes.flatMap((push) => (push.skipped ? [] : [push.requestId]));
  expect(chosen).toContain(requestId);
  expect(chosen).not.toContain(retry.requestId);
  expect(summary.skipped).toMatchObject({ A_RESEND: 5, ALREADY_RESENT: 5, ONLY_ANSWERED: 1 });
});

test('what the guard against captured bodies rejected is never sent', async () => {
  const body = { externalId: 'R-1' };
  const timestamp = String(Math.floor(Date.now() / 1000));
  expect((await service.push('status', body, { timestamp })).code).toBe(0);
  const captured = await service.push('delete', body, { timestamp });
  expect(captured.reason).toBe('SIGNATURE_REUSED');
  await isLogged(captured.requestId);
  const { summary } = await resend('--request-id', captured.requestId, '--again', '--apply');
  expect(summary).toMatchObject({ pushes: 0, skipped: { NOT_AUTHENTICATED: 1 } });
  expect(await matter('R-1')).toMatchObject({ deleted: false });
});

test('a notice without an id got one, and the same one when it is sent again once more', async () => {
  const notices = () => matterModel(service.db).find({ matterType: 'NOTICE' }).lean();
  expect(await notices()).toHaveLength(1);
  const { pushes } = await resend(...only('notice'), '--again', '--apply');
  expect(pushes).toMatchObject([{ accepted: true }]);
  expect(await notices()).toHaveLength(1);
});

test('its caller’s late retry is answered from the resend, and not applied', async () => {
  await upsert('R-2', { title: 'later' });
  const retry = await upsert('R-2', {}, { idempotencyKey: 'R-2/key' });
  expect(retry.headers['idempotency-replayed']).toBe('true');
  expect(await matter('R-2')).toMatchObject({ title: 'later' });
});

test('what took effect is applied once more where it is asked for, unless the ledger is newer', async () => {
  const { requestId } = await upsert('R-6', { title: 'first' }, { idempotencyKey: 'R-6/key' });
  await upsert('R-6', { title: 'by mistake' });
  await resend('--request-id', requestId, '--apply');
  expect(await matter('R-6')).toMatchObject({ title: 'first' });

  const dated = await upsert('R-7', { title: 'old', sourceUpdatedAt: '2024-06-01T00:00:00Z' });
  await upsert('R-7', { title: 'new', sourceUpdatedAt: '2024-06-02T00:00:00Z' });
  const dryRun = await resend('--request-id', dated.requestId);
  expect(dryRun.pushes).toMatchObject([{ result: 'STALE_IGNORED', changes: [] }]);
  const applied = await resend('--request-id', dated.requestId, '--apply');
  expect(applied.pushes).toMatchObject([{ accepted: true, result: 'STALE_IGNORED' }]);
  expect(await matter('R-7')).toMatchObject({ title: 'new' });
});

test('a forged push is never sent, however it is asked for', async () => {
  const forged = ['--request-id', String(lost.get('forged')?.requestId), '--again', '--apply'];
  expect((await resend(...forged)).summary).toMatchObject({
    pushes: 0,
    skipped: { NOT_AUTHENTICATED: 1 },
  });
  expect(await matter('R-5')).toBeNull();
});

test('what passes no longer is told, and the command fails', async () => {
  const { requestId } = await upsert('R-8', { parties: [{ username: 'bob', partyRole: 'CC' }] });
  await service.db
    .collection('users')
    .updateOne({ _id: 'bob' as never }, { $set: { enabled: false } });
  const run = await resend('--request-id', requestId, '--apply');
  expect(run).toMatchObject({
    exitCode: 1,
    summary: { rejected: 1, results: { UNKNOWN_USER: 1 } },
  });
  const entry = await auditModel(service.db).findOne({ subject: requestId }).lean();
  expect(entry).toMatchObject({ outcome: 'FAILED', error: '1 pushes were rejected' });
  expect(entry?.result).toMatchObject({ results: { UNKNOWN_USER: 1 } });
});

test('for people there is a line for each, and what to do next', async () => {
  const { requestId } = await upsert('R-9');
  const run = await matterctl(['log', 'resend', '--request-id', requestId], { env: service.env });
  expect(run.stdout).toContain('upsert TEST/R-9  UPDATED: nothing changes');
  expect(run.stdout).toContain('--apply sends them');
  expect(run.stdout).toContain('(times in Asia/Shanghai)');
});
