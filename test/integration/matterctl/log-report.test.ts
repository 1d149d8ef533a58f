/** `matterctl log report` against the service, as a person with a query key runs it, and a receiver of its posts. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { countModel } from '../../../src/storage/push-log/read-counts';
import type { PushReport } from '../../../tools/matterctl/report/read-report';
import { matterctl } from '../../support/cli-tool';
import { holdDeadlines } from '../../support/deadlines';
import { untilKnown } from '../../support/known-client';
import { todo } from '../../support/push-bodies';
import { push } from '../../support/pusher';
import { type Receiver, startReceiver } from '../../support/receiver';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'matterctl-report-'));
const keyFile = join(folder, 'key');
const robotFile = join(folder, 'robot');
let service: SharedService;
/** A client whose system no other test has: counts of other files arrive late. */
const clientId = `reported-${randomBytes(4).toString('hex')}`;
let secret: string;

const send = (operation: string, body: unknown) =>
  push({ url: service.urlOf(), clientId, secret, operation, body });
const unknownUser = { parties: [{ username: 'nobody', partyRole: 'ASSIGNEE' }] };
const run = (...args: string[]) =>
  matterctl([
    ...['log', 'report', '--client-id', clientId, '--secret-file', keyFile],
    ...(args.includes('--url') ? [] : ['--url', service.urlOf()]),
    ...args,
  ]);
const jsonOf = async (...args: string[]) => {
  const { exitCode, stdout } = await run('--json', ...args);
  return { exitCode, report: JSON.parse(stdout) as PushReport };
};

beforeAll(async () => {
  service = await sharedService();
  const keyRing = createKeyRing([service.env.SECRET_KEYS ?? '']);
  const admin = createClientAdmin(service.db, keyRing, Date.now);
  secret = (await admin.create({ clientId, systemCode: clientId })).secret ?? '';
  const { key } = await admin.addQueryKey(clientId, { ttl: DAY, mayPush: false });
  writeFileSync(keyFile, `${key}\n`);
  await untilKnown({ url: service.urlOf(), clientId, secret });
  await send('upsert', todo('R-1', unknownUser));
  await send('upsert', todo('R-1', unknownUser));
  await send('status', { externalId: 'R-2', bizStatus: 'DONE' });
  await send('upsert', todo('R-3'));
  // The report covers yesterday and today, and compares them with the two days before, up to this time of day. This hour
  // is among them after the next midnight, too.
  const hour = new Date((Math.floor(Date.now() / HOUR) - 1) * HOUR - 2 * DAY);
  const count = { systemCode: clientId, clientId, operation: 'upsert', result: 'CREATED' };
  await countModel(service.db).collection.insertOne({
    ...{ _id: `${hour.toISOString()} ${clientId}`, ...count, hour, latest: hour, pushes: 7 },
  } as never);
  await until('the counts', async () => (await jsonOf()).report.received >= 4);
}, 60_000);
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

test('it counts pushes and open failures, and fails while some are open', async () => {
  const { exitCode, report } = await jsonOf('--since', 'yesterday');
  expect(exitCode).toBe(1);
  expect(report).toMatchObject({
    ...{ systemCode: clientId, timeZone: 'Asia/Shanghai', complete: true },
    ...{ received: 4, written: 1, failed: 3, open: 2, refusedBatches: 0 },
    before: { received: 7, written: 7, failed: 0, open: 0 },
  });
  expect(report.reasons).toMatchObject([
    { reason: 'MATTER_NOT_FOUND', matters: 1, pushes: 1 },
    { reason: 'UNKNOWN_USER', matters: 1, pushes: 2 },
  ]);
  const text = await run();
  expect(text.stdout).toContain(`Matter Push report for ${clientId}\n`);
  expect(text.stdout).toContain('received: 4 (before: 7)\n');
  expect(text.stdout).toContain(
    `open the console: ${service.urlOf()}/console#/failures?range=custom`,
  );
  expect(text.stderr).toBe('matterctl: 2 matters have an open failure\n');
});

test('pushes whose signature is wrong are no open failure, and the command fails', async () => {
  const id = `unsigned-${clientId}`;
  const keyRing = createKeyRing([service.env.SECRET_KEYS ?? '']);
  const admin = createClientAdmin(service.db, keyRing, Date.now);
  const { secret: right = '' } = await admin.create({ clientId: id, systemCode: id });
  writeFileSync(join(folder, 'right'), right ?? '');
  await untilKnown({ url: service.urlOf(), clientId: id, secret: right ?? '' });
  const sent = { url: service.urlOf(), clientId: id, operation: 'upsert', body: todo('U-1') };
  await push({ ...sent, secret: 'wrong' });
  await push({ ...sent, secret: 'wrong' });
  const args = ['log', 'report', '--client-id', id, '--secret-file', join(folder, 'right')];
  const report = () => matterctl([...args, '--url', service.urlOf()]);
  await until('the counts', async () => (await report()).stdout.includes('failed: 2 '));
  const { exitCode, stdout, stderr } = await report();
  expect(stdout).toContain('matters with an open failure: 0 (before: 0)\n');
  expect(stdout.split('\n')[1]).toMatch(/^ATTENTION: rejected pushes, .*SIGNATURE_MISMATCH.*: 2$/);
  expect(stderr).toBe('matterctl: 2 pushes were rejected for signature, time or secret\n');
  expect(exitCode).toBe(1);
});

test('another time has none, and the exit code is 0', async () => {
  const quiet = await jsonOf('--since', '9d', '--to', '8d', '--public-url', 'https://p.example/');
  expect(quiet).toMatchObject({ exitCode: 0, report: { received: 0, open: 0, reasons: [] } });
  expect(quiet.report.link).toMatch(/^https:\/\/p\.example\/console#/);
  expect((await jsonOf('--on', '2026-05-01')).exitCode).toBe(0);
  expect((await jsonOf('--on', 'today')).report.from).toMatch(/T16:00:00\.000Z$/);
});

test.each([
  ['wecom', '{"errcode":0,"errmsg":"ok"}', 'msgtype'],
  ['dingtalk', '{"errcode":0,"errmsg":"ok"}', 'msgtype'],
  ['feishu', '{"code":0,"msg":"success"}', 'msg_type'],
])('the robot of %s gets the report in Chinese, after a retry', async (format, body, field) => {
  const receiver = await startReceiver({ status: 503 }, { body });
  writeFileSync(robotFile, `${receiver.url}/robot?key=ROBOT-KEY\n`);
  const { exitCode, stdout, stderr } = await run('--format', format, '--post-url-file', robotFile);
  await receiver.stop();
  expect(exitCode).toBe(1);
  expect(receiver.posts.map(({ path }) => path)).toEqual(Array(2).fill('/robot?key=ROBOT-KEY'));
  const [, { text } = { text: '' }] = receiver.posts;
  expect(`${text}\n`).toBe(stdout);
  expect(JSON.parse(text)).toHaveProperty(field);
  expect(text).toContain('UNKNOWN_USER（用户不存在或已停用）');
  expect(stderr).toBe(`posted to ${receiver.url}\nmatterctl: 2 matters have an open failure\n`);
});

test('a report that is not accepted is an error without the key of the robot', async () => {
  const receiver = await startReceiver({ body: '{"errcode":93000,"errmsg":"invalid webhook"}' });
  const post = ['--format', 'wecom', '--post', `${receiver.url}/robot?key=ROBOT-KEY`];
  const { exitCode, stdout, stderr } = await run(...post);
  await receiver.stop();
  expect(exitCode).toBe(1);
  // The report is printed nevertheless.
  expect(stdout).toContain('msgtype');
  expect(stderr).toBe(
    `matterctl: the report was not posted to ${receiver.url} (1 try): wecom answers 93000 invalid webhook\n`,
  );
});

test.each([
  [['--format', 'xml'], 'Allowed choices are text, json, wecom, dingtalk, feishu'],
  [['--json', '--format', 'wecom'], '--json is not --format wecom'],
  [['--on', 'yesterday', '--since', 'today'], '--on is a whole day'],
  [['--since', 'today', '--to', 'yesterday'], 'must begin before it ends'],
  [['--since', '40d'], 'at most 31 days'],
  [['--since', 'monday'], 'It must be a time such as'],
  [['--post', 'robot?key=ROBOT-KEY'], '--post must hold an address'],
  [['--post', 'https://a.example', '--post-url-file', keyFile], 'not both'],
  [['--post-secret-file', keyFile, '--format', 'feishu'], 'needs --post or --post-url-file'],
  [
    ['--post-secret-file', keyFile, '--format', 'wecom', '--post', 'https://a.example'],
    'for --format dingtalk or feishu',
  ],
  [['--url', 'https://a.example/?key=ROBOT-KEY'], 'It must be an address like'],
  [['--posts=https://a.example/?key=ROBOT-KEY'], 'unknown option'],
  [['--post-url-file', keyFile], 'the file of --post-url-file must hold an address'],
])('%j is wrong usage', async (args, message) => {
  const { exitCode, stdout, stderr } = await run(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('ROBOT-KEY');
});

test('a service that rejects the key is named', async () => {
  writeFileSync(join(folder, 'wrong'), 'wrong');
  const { exitCode, stderr } = await matterctl([
    ...['log', 'report', '--client-id', clientId, '--secret-file', join(folder, 'wrong')],
    ...['--url', service.urlOf()],
  ]);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^matterctl: the service at http:.* 401 SIGNATURE_MISMATCH .*doctor/);
});

describe('if the report cannot be made', () => {
  const why = (text: string) => JSON.parse(text).text?.content ?? text;
  /** Asks a service that gives no answer, until the time for its answers ends: nine of ten minutes. */
  const runWithoutAnswer = async (robot: Receiver) => {
    const silent = await startReceiver('hang');
    const endQueries = holdDeadlines(540_000);
    const args = ['--url', silent.url, '--post', robot.url, '--timeout', '10m'];
    const running = run(...args);
    await until('a query', async () => silent.posts.length > 0);
    endQueries();
    const ended = await running;
    jest.restoreAllMocks();
    await silent.stop();
    return { ...ended, url: silent.url };
  };

  test('its cause is posted, without the key of the robot', async () => {
    writeFileSync(join(folder, 'wrong'), 'wrong');
    const robot = await startReceiver({ body: '{"errcode":0,"errmsg":"ok"}' });
    const { exitCode, stdout, stderr } = await matterctl([
      ...['log', 'report', '--client-id', clientId, '--secret-file', join(folder, 'wrong')],
      ...['--url', service.urlOf(), '--format', 'wecom'],
      ...['--post', `${robot.url}/robot?key=ROBOT-KEY`],
    ]);
    await robot.stop();
    expect(robot.posts).toHaveLength(1);
    const text = why(robot.posts[0]?.text ?? '');
    expect(text).toContain('Matter Push 推送报告未能生成');
    expect(text).toContain(`Client ${clientId} 的报告未能生成：the service at http://`);
    expect(text).toContain('401 SIGNATURE_MISMATCH');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^posted to http.*\nmatterctl: the service at http.* 401 /);
  });

  test('a service that gives no answer does not hold it up', async () => {
    const robot = await startReceiver();
    const { exitCode, stderr, url } = await runWithoutAnswer(robot);
    await robot.stop();
    expect(exitCode).toBe(1);
    const cause = `the service at ${url} did not answer all queries in time`;
    expect(stderr).toBe(`posted to ${robot.url}\nmatterctl: ${cause}\n`);
    expect(robot.posts.map(({ text }) => text)).toEqual([expect.stringContaining(cause)]);
  });

  test('and not posted, both causes are named', async () => {
    const robot = await startReceiver({ status: 410 });
    const { exitCode, stderr } = await runWithoutAnswer(robot);
    await robot.stop();
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^matterctl: the service at .*; the report was not posted to .*410/);
  });

  test('an address in place of a file is not printed', async () => {
    const address = 'https://a.example/robot?key=ROBOT-KEY';
    const { exitCode, stderr } = await run('--post-url-file', address);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('https://a.example/robot?…');
  });
});

describe('an answer that cannot know everything', () => {
  const stats = (complete: boolean) => ({
    ...{ total: { pushes: 0, succeeded: 0, failed: 0 }, rows: [], complete },
  });
  const none = { rows: [], refusedBatches: 0, notRecorded: 0, nextCursor: null };

  test.each([
    ['a count that was cut off', {}, false, 'the service could not count all pushes'],
    ['a rejected batch', { refusedBatches: 1 }, true, '1 batch was rejected as a whole'],
    ['no entries', { notRecorded: 3 }, true, '3 failed pushes have no entry in the log'],
    ['nothing', {}, true, ''],
  ])('%s', async (_, failures, complete, problem) => {
    const answers: Readonly<Record<string, object>> = {
      me: { clientId: 'oa', systemCode: 'OA', timeZone: 'Asia/Shanghai' },
      stats: stats(complete),
      failures: { ...none, ...failures },
    };
    const scripted = await startReceiver(({ path }) => {
      const data = answers[path?.split('/').at(-1) ?? ''];
      const body = { code: 0, message: 'success', data, requestId: 'r1', timestamp: 'now' };
      return { body: JSON.stringify(body) };
    });
    const { exitCode, stdout, stderr } = await run('--url', scripted.url);
    await scripted.stop();
    expect(stdout).toContain('open failure');
    expect(stderr).toBe(problem && `matterctl: ${problem}\n`);
    expect(exitCode).toBe(problem === '' ? 0 : 1);
  });
});
