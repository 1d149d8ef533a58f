/**
 * What callers sent, what files hold and what the database has is printed so that it stays in its line and its place:
 * every command of matterctl, with hostile text in every value that it prints.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Types } from 'mongoose';
import { createRedisKeys } from '../../../src/queue/keys';
import { auditModel } from '../../../src/storage/audit';
import { clientModel } from '../../../src/storage/directory/client-model';
import { userModel } from '../../../src/storage/directory/user-model';
import { bodyModel, entryModel } from '../../../src/storage/push-log/entry';
import { countModel } from '../../../src/storage/push-log/read-counts';
import { matterctl } from '../../support/cli-tool';
import { seedLedger } from '../../support/ledger-seed';
import { type Service, startService } from '../../support/service';

/** A colour, a cleared screen, a line of its own, a turned direction, a bell, what nobody sees, half a character. */
const hostile = (name: string) =>
  `${name}\u001b[31m\u009b2J\nFORGED line\r\nFORGED\u2028FORGED\u2029\u202eturned\u2066\u061c\u0007\u0000\u200b\ufeff\u{e0041}\ud800`;
/** The same without what a caller's text may not have. */
const allowed = (name: string) => `${name}\u2028FORGED\u202e\u2066\u061c\u200b`;
const UNPRINTABLE = /(?!\u200c|\u200d|\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const folder = mkdtempSync(join(tmpdir(), 'matterctl-hostile-'));
const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
/** Without the half of a character, which MongoDB would store as another one. */
const EXTERNAL_ID = hostile('A-1').replace('\ud800', '');
const KEY = hostile('key');
const REQUEST_ID = '66596e60aaaaaaaaaaaaaaaa';
const AT = new Date();

let service: Service;
let redis: Redis;
beforeAll(async () => {
  service = await startService({ workers: 0, env: { PUSH_TIMEOUT: '500ms' } });
  redis = new Redis(String(service.env.REDIS_URL));
  // Waits in its partition: there is no worker.
  await service.push('upsert', { matterType: 'NOTICE', externalId: allowed('Q-1'), title: 'x' });
  await plantRecords();
}, 120_000);
afterAll(async () => {
  redis.disconnect();
  await service.stop();
  rmSync(folder, { recursive: true });
});

async function plantRecords(): Promise<void> {
  const { db } = service;
  await seedLedger(db, 1, () => ({
    ...{ externalId: EXTERNAL_ID, title: hostile('title'), summary: hostile('summary') },
    ...{ content: hostile('content'), bizStatus: hostile('OPEN'), bizType: hostile('type') },
    ...{ pcUrl: hostile('url'), externalStatusCode: hostile('code'), priority: hostile('LOW') },
    parties: [
      {
        ...{ username: hostile('li'), displayName: hostile('Li'), unread: true },
        partyRole: 'ASSIGNEE' as const,
      },
    ],
  }));
  const problem = {
    field: hostile('field'),
    message: hostile('消息'),
    english: hostile('message'),
  };
  const body = Buffer.from(
    JSON.stringify({ matterType: 'TODO', externalId: allowed('A-2'), title: hostile('title') }),
  );
  await entryModel(db).collection.insertOne({
    _id: new Types.ObjectId(REQUEST_ID),
    ...{
      clientId: hostile('oa'),
      systemCode: 'TEST',
      operation: 'upsert',
      secretId: hostile('s1'),
    },
    ...{ externalId: EXTERNAL_ID, idempotencyKey: KEY, bodyHash: hostile('hash'), bodySize: 12 },
    ...{ receivedAt: AT, deadlineAt: AT, queuedAt: AT, startedAt: AT, settledAt: AT },
    ...{ state: 'REFUSED', result: 'CONFIRMATION_TIMEOUT', failure: true },
    ...{ worker: hostile('worker'), operator: hostile('ada'), traceId: hostile('trace') },
    problems: [problem],
    warnings: [{ ...problem, kind: 'UNKNOWN_FIELD' }],
    changes: [
      { field: hostile('title'), from: hostile('old'), to: hostile('new') },
      { field: 'parties', added: [hostile('li')], removed: [hostile('wu')] },
    ],
  } as never);
  await bodyModel(db).collection.insertOne({
    _id: new Types.ObjectId(REQUEST_ID),
    body,
    receivedAt: AT,
  } as never);
  const paused = { since: AT, reason: hostile('month end') };
  await clientModel(db).updateOne({ _id: service.clientId }, { $set: { paused } });
  await clientModel(db).collection.insertOne({
    _id: hostile('client') as never,
    ...{ type: 'CONFIDENTIAL', systemCode: hostile('SYS'), enabled: true, secrets: [], paused },
    createdAt: AT,
  });
  await userModel(db).collection.insertOne({
    ...{ _id: hostile('user') as never, displayName: hostile('User'), enabled: true },
  });
  await auditModel(db).collection.insertOne({
    ...{ _id: new Types.ObjectId(), at: AT, operator: hostile('ada'), host: hostile('host') },
    ...{ command: hostile('client'), subject: hostile('subject'), details: { a: hostile('x') } },
    ...{ outcome: 'FAILED', endedAt: AT, result: { b: hostile('y') }, error: hostile('error') },
  });
  await countModel(db).collection.insertOne({
    _id: 'hostile' as never,
    ...{ systemCode: hostile('SYS'), clientId: hostile('client'), operation: 'upsert' },
    ...{ result: hostile('CREATED'), hour: new Date(), latest: new Date(), pushes: 1 },
    minutes: { 0: { pushes: 1, times: { 8: 1 } } },
  });
  await plantProcess();
}

/** The record of a process. */
async function plantProcess(): Promise<void> {
  const { REDIS_NAMESPACE = '' } = service.env;
  const { processes, processHeartbeats } = createRedisKeys(REDIS_NAMESPACE, 1);
  const record = {
    ...{ name: hostile('web'), type: 'web', host: hostile('host'), pid: 1, uptimeMs: 1 },
    ...{ version: hostile('1.0'), state: 'ready', work: { [hostile('in flight')]: 1 } },
    outages: { mongodb: { since: 1, until: 2, error: hostile('error') } },
  };
  await redis.hset(processes, 'planted', `${Date.now()} ${JSON.stringify(record)}`);
  await redis.zadd(processHeartbeats, Date.now(), 'planted');
}

const csv = (...rows: readonly (readonly string[])[]) =>
  rows.map((row) => row.map((cell) => `"${cell}"`).join(',')).join('\n');
const asClient = () => [
  ...['--client-id', service.clientId, '--url', service.urlOf()],
  ...['--secret-file', file('secret', service.secret)],
];
const pushLine = (externalId: string, more: object = {}) =>
  `${JSON.stringify({ op: 'upsert', body: { matterType: 'TODO', externalId, title: hostile('t'), ...more } })}\n`;
const parties = [{ username: allowed('nobody'), partyRole: 'CC' }];

/** By command: command lines that print what others wrote. */
const LINES: Readonly<Record<string, readonly (() => readonly string[])[]>> = {
  'client create': [() => ['--id', hostile('new'), '--system-code', hostile('S')]],
  'client list': [() => [], () => ['--json']],
  'client enable': [() => [hostile('gone')]],
  'client disable': [() => [hostile('gone')]],
  'client limit': [() => [hostile('gone'), '--rate', '5']],
  'client rotate': [() => [hostile('gone')]],
  'client reseal': [() => []],
  'client console': [() => [hostile('gone'), '--url', 'http://localhost:3000']],
  'client revoke': [() => [hostile('gone')]],
  'user import': [
    () => [
      file('bad.csv', csv(['username', 'displayName'], ['', hostile('x')], ['a', hostile('b')])),
    ],
    () => [file(`${'x'.repeat(5)}\u202e.csv`, 'wrong\n')],
  ],
  'user disable': [() => [hostile('gone')]],
  'user enable': [() => [hostile('gone')]],
  'user list': [() => [], () => ['--json']],
  'matter get': [
    () => ['TEST', EXTERNAL_ID],
    () => ['TEST', EXTERNAL_ID, '--json'],
    () => ['TEST', hostile('gone')],
  ],
  'matter export': [() => ['--system-code', 'TEST']],
  'matter history': [() => ['TEST', EXTERNAL_ID], () => ['TEST', EXTERNAL_ID, '--json']],
  'log query': [() => ['--system-code', 'TEST'], () => ['--system-code', 'TEST', '--json']],
  'log show': [() => [REQUEST_ID], () => [REQUEST_ID, '--json']],
  'log tail': [() => ['--system-code', 'TEST'], () => ['--system-code', 'TEST', '--json']],
  'log export': [() => ['--system-code', 'TEST'], () => ['--format', 'csv']],
  'log report': [
    asClient,
    () => [...asClient(), '--json'],
    () => [...asClient(), '--post', hostile('http://gone')],
  ],
  'log resend': [
    () => ['--request-id', REQUEST_ID],
    () => ['--request-id', REQUEST_ID, '--json'],
    () => ['--from', '1h', '--system-code', hostile('X')],
  ],
  'queue stats': [() => [], () => ['--json']],
  'queue partitions': [() => [], () => ['--json']],
  'queue oldest': [() => [], () => ['--json']],
  'queue pause': [() => [hostile('gone'), '--reason', hostile('why')]],
  'queue unpause': [() => []],
  'queue resume': [() => [hostile('gone')]],
  push: [
    () => ['--dry-run', file('push.ndjson', pushLine(allowed('P-1'), { parties })), ...asClient()],
    () => ['--dry-run', file('bad.ndjson', `${hostile('no json')}\n`), ...asClient()],
    () => [join(folder, hostile('gone')), ...asClient()],
  ],
  reconcile: [
    () => [
      ...['--system-code', 'TEST', '--orphans'],
      file(
        'expected.csv',
        csv(['externalId', allowed('what'), 'bizStatus'], [allowed('A-1'), '', 'DONE']),
      ),
    ],
    () => ['--system-code', 'TEST', file('wrong.ndjson', `{"externalId":1}\n${hostile('x')}\n`)],
  ],
  erase: [() => ['--user', hostile('gone')], () => ['--user', hostile('gone'), '--json']],
  audit: [() => [], () => ['--json']],
  doctor: [asClient, () => [...asClient(), '--json']],
  status: [() => [], () => ['--json']],
};

/** Names of commands in a help, such as `list` in `  list [options]  list all clients`. */
async function commandsOf(...parent: string[]): Promise<string[]> {
  const { stdout } = await matterctl([...parent, '--help']);
  const [, listed = ''] = stdout.split('Commands:\n');
  const names = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name);
  return names.filter((name) => name !== 'help');
}

test('no command is left out', async () => {
  const names = await Promise.all(
    (await commandsOf()).map(async (name) => {
      const inner = await commandsOf(name);
      return inner.length > 0 ? inner.map((one) => `${name} ${one}`) : [name];
    }),
  );
  expect(Object.keys(LINES).sort()).toEqual(names.flat().sort());
});

const cases = Object.entries(LINES).flatMap(([command, lines]) =>
  lines.map((args, n): [string, typeof args] => [`${command}, line ${n + 1}`, args]),
);

test.each(cases)(
  '%s',
  async (name, args) => {
    const command = (name.split(',')[0] ?? '').split(' ');
    const run = await matterctl([...command, ...args()], { env: service.env, cwd: folder });
    const printed = run.stdout.replaceAll('\r\n', '\n') + run.stderr;
    expect(printed).not.toBe('');
    const wrong = printed.split('\n').filter((line) => UNPRINTABLE.test(line));
    expect(wrong.map((line) => JSON.stringify(line))).toEqual([]);
    expect(printed.split('\n').filter((line) => /^\s*FORGED/.test(line))).toEqual([]);
  },
  60_000,
);

/** Where text meets a terminal. */
const WRITERS = ['print.ts'];

test('nothing but print.ts writes to stdout and stderr', () => {
  const root = join(__dirname, '../../../tools/matterctl');
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !WRITERS.includes(name))
    .filter((name) =>
      /\b(?:stdout|stderr|out)\.write\(|console\./.test(readFileSync(join(root, name), 'utf8')),
    );
  expect(sources).toEqual([]);
});
