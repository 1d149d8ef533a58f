/**
 * Backup and restore, as docs/runbook.md describes them: MongoDB is restored to an earlier time without its indexes,
 * and Redis is lost. After `release` nothing is wrong, and each push since the backup is found.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matterModel } from '../../../src/storage/ledger/matters';
import { createExpireLost, entryModel } from '../../../src/storage/push-log';
import { bodyModel } from '../../../src/storage/push-log/entry';
import { matterctl } from '../../support/cli-tool';
import { type Dump, dump, restore } from '../../support/dump';
import { pushLine, todo } from '../../support/push-bodies';
import type { Answer } from '../../support/pusher';
import { openDatabase, type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

/** When the backup is taken, a worker is about to apply this push. */
const IN_FLIGHT = 'IN-FLIGHT';
const folder = mkdtempSync(join(tmpdir(), 'matter-push-restore-'));
/** All pushes of the business system, in their order. */
const PUSHES: readonly (readonly [string, object])[] = [
  ['upsert', todo('KEPT', { bizStatus: 'PENDING' })],
  ['upsert', todo(IN_FLIGHT)],
  ['upsert', todo('LATER')],
  ['status', { externalId: 'KEPT', bizStatus: 'DONE' }],
];
const PUSH_FILE = join(folder, 'pushes.ndjson');
const SECRET_FILE = join(folder, 'secret');

let service: Service;
let backup: Dump;
let url: string;
/** Redis is lost: another namespace is as empty. */
let env: Record<string, string>;
const confirmed: Answer[] = [];

const send = (n: number) => {
  const [operation = '', body] = PUSHES[n] ?? [];
  return service.push(operation, body, { url, idempotencyKey: `push-${n}` });
};
const statusOf = async (externalId: string) =>
  (await matterModel(service.db).findOne({ externalId }).lean())?.bizStatus;
const stateOf = async (externalId: string) =>
  (await entryModel(service.db).findOne({ externalId }).lean())?.state;
const signer = () => ['--client-id', service.clientId, '--secret-file', SECRET_FILE, '--url', url];

async function jsonLines(...args: string[]) {
  const { exitCode, stdout } = await matterctl([...args, '--json'], { env });
  const lines = stdout.trim().split('\n').filter(Boolean);
  return { exitCode, lines: lines.map((line) => JSON.parse(line)) };
}

beforeAll(async () => {
  service = await startService();
  url = service.urlOf();
  env = { ...service.env, REDIS_NAMESPACE: `${service.env.REDIS_NAMESPACE}-new` };
  writeFileSync(SECRET_FILE, service.secret);
  writeFileSync(PUSH_FILE, PUSHES.map((push) => `${pushLine(...push)}\n`).join(''));
  confirmed.push(await send(0));
  await service.workers[0]?.stop();
  const waiting = send(1);
  // The backup reads what the majority has. A queued entry and its body get there a moment after the primary has them.
  await until('the majority to have the queued push and its body', async () => {
    const entries = entryModel(service.db).findOne({ externalId: IN_FLIGHT });
    const entry = await entries.readConcern('majority').lean();
    return entry && bodyModel(service.db).findById(entry._id).readConcern('majority').lean();
  });
  backup = await dump(String(env.MONGO_URL));
  await service.startWorker();
  confirmed.push(await waiting, await send(2), await send(3));
  // The disaster: no process, no database, no Redis.
  await service.workers[1]?.stop();
  await service.webs[0]?.stop();
  await service.db.dropDatabase();
}, 120_000);
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('every push was confirmed before the disaster', () => {
  expect(confirmed.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
});

test('a restored database without indexes accepts no push until release has run', async () => {
  await restore(String(env.MONGO_URL), backup);
  await service.startWeb(env);
  url = service.urlOf(1);
  expect(await send(0)).toMatchObject({ code: 503, reason: 'DATABASE_NOT_PREPARED' });
  await (await openDatabase(String(env.MONGO_URL))).close();
  await service.startWorker(env);
  const isReady = async () => (await fetch(`${url}/readyz`)).status === 200;
  await until('web to be ready', isReady, 60_000);
}, 120_000);

test('what was confirmed before the backup is there, and the client signs with its secret', async () => {
  expect(await statusOf('KEPT')).toBe('PENDING');
  const retry = await send(0);
  expect(retry).toMatchObject({ code: 0, data: { matterId: confirmed[0]?.data.matterId } });
  expect(retry.headers['idempotency-replayed']).toBe('true');
});

test('the push in flight is in the log and not in the ledger; it expires, and a resend applies it', async () => {
  expect(await statusOf(IN_FLIGHT)).toBeUndefined();
  // The worker does this itself a minute after the deadline of the push.
  await createExpireLost(service.db)(Date.now() + 1_000, { now: Date.now(), worker: 'test' });
  expect(await stateOf(IN_FLIGHT)).toBe('EXPIRED');
  const resend = ['log', 'resend', '--from', '1h', '--reason', 'CONFIRMATION_TIMEOUT'];
  const preview = await jsonLines(...resend);
  expect(preview.lines).toMatchObject([
    { requestId: confirmed[1]?.requestId, externalId: IN_FLIGHT, result: 'CREATED' },
    { summary: { applied: false, pushes: 1 } },
  ]);
  const { exitCode, lines } = await jsonLines(...resend, '--apply');
  expect(exitCode).toBe(0);
  expect(lines.at(-1)).toMatchObject({ summary: { applied: true, pushes: 1, rejected: 0 } });
  expect(await statusOf(IN_FLIGHT)).toBe('PENDING');
}, 60_000);

test('reconcile finds what was confirmed after the backup, and its re-push file mends it', async () => {
  const compare = () => jsonLines('reconcile', PUSH_FILE, '--system-code', 'TEST');
  const before = await compare();
  expect(before.exitCode).toBe(1);
  expect(before.lines.slice(0, -1)).toMatchObject([
    { externalId: 'KEPT', difference: 'STATUS_DIFFERS' },
    { externalId: 'LATER', difference: 'MISSING' },
  ]);
  const pushed = await matterctl(['push', `${PUSH_FILE}.repush.ndjson`, ...signer()]);
  expect(pushed).toMatchObject({ exitCode: 0 });
  expect((await compare()).exitCode).toBe(0);
  expect([await statusOf('KEPT'), await statusOf('LATER')]).toEqual(['DONE', 'PENDING']);
}, 60_000);

test('a retry of a push that the log has lost is applied', async () => {
  const retry = await send(3);
  expect(retry).toMatchObject({ code: 0, data: { outcome: 'UPDATED' } });
  expect(retry.headers['idempotency-replayed']).toBeUndefined();
});
