/** What a client of the service can ask by matterctl without a way to the database, with the same output. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CliRun, matterctl, withoutProgress } from '../../support/cli-tool';
import { untilFarFromMidnight } from '../../support/midnight';
import type { Answer } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

/** No other file has it. */
const SYSTEM = 'SIGNED';
const folder = mkdtempSync(join(tmpdir(), 'matterctl-signed-'));
const secretFile = join(folder, 'secret');
let service: SharedService;
let created: Answer;
let rejected: Answer;

beforeAll(async () => {
  service = await sharedService(SYSTEM);
  await untilFarFromMidnight();
  writeFileSync(secretFile, service.secret);
  const push = (op: string, body: object, idempotencyKey?: string) =>
    service.push(op, { externalId: 'S-1', ...body }, idempotencyKey ? { idempotencyKey } : {});
  const upsert = {
    matterType: 'TODO',
    title: '报销单',
    deadlineAt: '2026-01-31T18:00:00',
    sourceUpdatedAt: '2024-06-01T00:00:00Z',
    parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
  };
  created = await push('upsert', upsert, 'S-1/key');
  await push('upsert', upsert, 'S-1/key');
  await push('status', { bizStatus: 'DONE', sourceUpdatedAt: '2024-06-03T00:00:00Z' });
  await push('status', { bizStatus: 'PENDING', sourceUpdatedAt: '2024-06-02T00:00:00Z' });
  await push('upsert', { externalId: 'S-2', matterType: 'X', title: '' });
  await push('upsert', { ...upsert, externalId: 'S-3' });
  rejected = await service.push('status', { externalId: 'S-1' }, { secret: `${service.secret} ` });
  await until('the rejection is in the log', async () => {
    return (await asClient('log', 'show', rejected.requestId)).exitCode === 0;
  });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const signer = () => [
  ...['--url', service.urlOf(), '--client-id', service.clientId],
  ...['--secret-file', secretFile],
];
const asClient = async (...args: string[]) =>
  withoutProgress(await matterctl([...args, ...signer()]));
/** Of its system alone, as the client: rejections of the file before are recorded late, and operators see them. */
const asOperator = async (...args: string[]) => {
  const isOfAll = args[0] === 'log' && args[1] !== 'show' && !args.includes('--system-code');
  const ofSystem = isOfAll ? ['--system-code', SYSTEM] : [];
  return withoutProgress(await matterctl([...args, ...ofSystem], { env: service.env }));
};
/** Without what only operators are told. */
const withoutOperators = ({ exitCode, stdout, stderr }: CliRun) => ({
  exitCode,
  stderr,
  stdout: stdout
    .replace(/,"worker":(null|"[^"]*"),"operator":null/g, '')
    .replace(/^worker .*\n/gm, ''),
});
const ofMatter = ['--system-code', SYSTEM, '--external-id', 'S-1'];

/** What it took to find the cause of a bad signature depends on how much time there was. */
const toCompare = ({ stdout }: CliRun) =>
  stdout.replace(/ +$/gm, '').replace(/\nsignature\n[\s\S]*/, '\nsignature\n');

describe('a client is shown what an operator is shown', () => {
  test.each([
    [['log', 'query', ...ofMatter]],
    [['log', 'query', '--limit', '2', '--oldest-first', '--json']],
    [['log', 'query', '--system-code', SYSTEM, '--key', 'S-1/key', '--json']],
    [['log', 'query', '--outcome', 'STALE_IGNORED', '--since', 'today']],
    [['log', 'query', '--reason', 'VALIDATION_FAILED', '--json']],
    [['log', 'query', '--state', 'REPLAYED', '--to', '1h']],
    [['log', 'query', '--failed', '--on', 'today', '--json']],
    [['log', 'query', '--still-failed', '--json']],
    [['log', 'export', '--reason', 'VALIDATION_FAILED,SIGNATURE_MISMATCH']],
    [['log', 'tail', '--lines', '3']],
    [['log', 'export']],
    [['log', 'export', '--oldest-first', '--operation', 'status']],
    [['matter', 'get', SYSTEM, 'S-1']],
    [['matter', 'get', SYSTEM, 'S-1', '--json']],
    [['matter', 'get', SYSTEM, 'none']],
    [['matter', 'history', SYSTEM, 'S-1']],
    [['matter', 'history', SYSTEM, 'S-1', '--limit', '2', '--json']],
    [['matter', 'history', SYSTEM, 'none']],
  ])('%j', async (args) => {
    const [theirs, ours] = [await asClient(...args), withoutOperators(await asOperator(...args))];
    expect(theirs).toEqual(ours);
    expect(theirs.stdout + theirs.stderr).not.toBe('');
  });

  test('one push with its attempts and its body, and what was wrong with a signature', async () => {
    for (const args of [
      [created.requestId, '--body'],
      [created.requestId, '--json'],
      [rejected.requestId],
    ]) {
      const theirs = await asClient('log', 'show', ...args);
      const ours = withoutOperators(await asOperator('log', 'show', ...args));
      expect(toCompare(theirs)).toBe(toCompare(ours));
      expect(theirs).toMatchObject({ exitCode: 0, stderr: '' });
    }
    const shown = await asClient('log', 'show', rejected.requestId);
    expect(shown.stdout).toContain('\nsignature\n');
  });

  test('CSV has no column of what only operators are told', async () => {
    const [head] = (await asClient('log', 'export', '--format', 'csv')).stdout.split('\r\n');
    expect(head).toContain(',deadlineAt,');
    expect(head).not.toMatch(/worker|operator/);
  });

  test('a file and the ledger, orphans too', async () => {
    const lines = [
      { externalId: 'S-1', bizStatus: 'PENDING', sourceUpdatedAt: '2024-06-03T00:00:00Z' },
      {
        externalId: 'S-4',
        matterType: 'TODO',
        title: 'missing',
        parties: [{ username: 'x.y', partyRole: 'CC' }],
      },
    ];
    const file = join(folder, 'rows.ndjson');
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const args = ['reconcile', file, '--orphans'];
    const [theirs, ours] = [
      await asClient(...args),
      await asOperator(...args, '--system-code', SYSTEM),
    ];
    const untimed = ({ stdout, ...rest }: CliRun) => ({
      ...rest,
      stdout: stdout.replace(/in [\d.]+ s/, ''),
    });
    expect(untimed(theirs)).toEqual(untimed(ours));
    expect(theirs.stdout).toMatch(/^S-1 +STATUS_DIFFERS /m);
    expect(theirs.stdout).toMatch(/^S-3 +ORPHAN /m);
    expect(theirs.stderr).toContain('S-4: UNKNOWN_USER parties[0].username: ');
  });

  test('a file of pushes is compared field by field', async () => {
    const file = join(folder, 'pushes.ndjson');
    const body = {
      ...{
        matterType: 'TODO',
        externalId: 'S-3',
        title: '报销单',
        deadlineAt: '2026-01-31T18:00:00',
      },
      ...{ sourceUpdatedAt: '2024-06-01T00:00:00Z' },
      parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
    };
    writeFileSync(file, `${JSON.stringify({ op: 'upsert', body })}\n`);
    expect(await asClient('reconcile', file)).toMatchObject({ exitCode: 0 });
    writeFileSync(file, `${JSON.stringify({ op: 'upsert', body: { ...body, title: 'other' } })}\n`);
    const { exitCode, stdout } = await asClient('reconcile', file);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^S-3 +CONTENT_DIFFERS +title: other → 报销单 +upsert/m);
  });
});

describe('a file is read by the rules of the service', () => {
  const elsewhere = { PORTAL_TIME_ZONE: 'America/New_York', CONCLUDED_STATUSES: 'PENDING' };
  const reconcile = (file: string) =>
    matterctl(['reconcile', file, ...signer()], { env: elsewhere });

  test('its local times, whatever the zone of this machine', async () => {
    const file = join(folder, 'local.ndjson');
    const row = { externalId: 'S-3', sourceUpdatedAt: '2024-06-01T08:00:00' };
    writeFileSync(file, `${JSON.stringify(row)}\n`);
    expect(await reconcile(file)).toMatchObject({ exitCode: 0 });
  });

  test('and what concludes a matter', async () => {
    const body = { externalId: 'S-5', matterType: 'TODO', title: 'x', bizStatus: 'PENDING' };
    const parties = [{ username: 'alice', partyRole: 'ASSIGNEE' }];
    const lines = [
      { op: 'upsert', body: { ...body, parties } },
      { op: 'status', body: { externalId: 'S-5', bizStatus: 'DONE' } },
    ];
    for (const line of lines) {
      expect(await service.push(line.op, line.body)).toMatchObject({ code: 0 });
    }
    const file = join(folder, 'concluded.ndjson');
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect(await reconcile(file)).toMatchObject({ exitCode: 0 });
  });
});

describe('who is asked', () => {
  const other = (...args: string[]) => matterctl(['log', 'query', ...args], { env: service.env });

  test.each([
    [
      ['--mongo-url', 'mongodb://127.0.0.1:1/x', '--client-id', 'a', '--secret-file', 'f'],
      'choose one',
    ],
    [['--url', 'http://127.0.0.1:1'], '--url needs --client-id and --secret-file'],
    [['--secret-file', 'f'], '--secret-file needs --client-id'],
  ])('%j is wrong usage', async (args, message) => {
    expect(await other(...args)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(message),
    });
  });

  test('without a secret the client is a filter, and the database is asked', async () => {
    const none = await other('--client-id', 'nobody');
    expect(none).toMatchObject({ exitCode: 0, stderr: 'No such pushes.\n' });
    const get = await asOperator('matter', 'get', SYSTEM, 'S-1', '--client-id', 'a');
    expect(get).toMatchObject({ exitCode: 2 });
  });

  test('a system that is not the one of the client is told as that', async () => {
    for (const args of [
      ['matter', 'get', 'OTHER', 'S-1'],
      ['matter', 'history', 'OTHER', 'none'],
      ['log', 'query', '--system-code', 'OTHER', '--key', 'none'],
    ]) {
      const { exitCode, stderr } = await asClient(...args);
      expect(exitCode).toBe(2);
      expect(stderr).toContain('belongs to the system SIGNED and sees nothing of OTHER');
    }
  });

  test('a service that rejects, or is not there, is named', async () => {
    const wrong = join(folder, 'wrong');
    writeFileSync(wrong, 'wrong');
    const who = ['--client-id', service.clientId, '--secret-file', wrong];
    const bad = await other('--url', service.urlOf(), ...who);
    expect(bad.stderr).toMatch(
      /^matterctl: the service at http:.* rejects .* 401 SIGNATURE_MISMATCH .*doctor/,
    );
    const away = await other('--url', 'http://127.0.0.1:1', ...who);
    expect(away.stderr).toMatch(
      /the service at http:\/\/127\.0\.0\.1:1 cannot be reached: ECONNREFUSED/,
    );
  });
});
