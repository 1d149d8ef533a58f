/** What matterctl prints: the heads of its tables and the fields of its JSON, on a small fixed ledger. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { matterctl } from '../../support/cli-tool';
import { expectGolden, fieldsOf } from '../../support/golden';
import { FULL, PUSHES } from '../../support/golden-ledger';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

const folder = mkdtempSync(path.join(tmpdir(), 'matterctl-golden-'));
const inFolder = (name: string) => path.join(folder, name);
let service: SharedService;
/** Of a push that was applied, and of one that was refused. */
const ids = { applied: '', refused: '' };

beforeAll(async () => {
  service = await sharedService();
  for (const [name, operation, body, idempotencyKey] of PUSHES) {
    const { requestId } = await service.push(
      operation,
      body,
      idempotencyKey ? { idempotencyKey } : {},
    );
    if (name === 'upsert UPDATED') ids.applied = requestId;
  }
  ids.refused = (await service.push('upsert', FULL, { secret: 'wrong' })).requestId;
  await until('all entries', async () => {
    const { stdout } = await run(['log', 'show', ids.refused, '--json']);
    const { stdout: queued } = await run(['log', 'query', '--state', 'QUEUED', '--json']);
    return stdout !== '' && queued === '';
  });
  await run(['client', 'create', '--id', 'g-new-1', '--system-code', 'G-NEW']);
  const lines = [FULL, { ...FULL, externalId: 'NONE' }].map((body) => ({ op: 'upsert', body }));
  writeFileSync(inFolder('pushes.ndjson'), lines.map((line) => JSON.stringify(line)).join('\n'));
  writeFileSync(inFolder('bad.ndjson'), '{"op":"delete","body":{"externalId":"NOWHERE"}}\n');
  writeFileSync(inFolder('users.csv'), 'username,displayName\nerin,Erin\n');
  writeFileSync(inFolder('secret'), service.secret);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const run = (args: readonly string[]) => matterctl(args, { env: service.env, cwd: folder });
const signer = () => [
  ...['--url', service.urlOf(), '--client-id', service.clientId],
  ...['--secret-file', inFolder('secret')],
];

const OF_ONE = ['--system-code', 'TEST', '--external-id', 'G-1'];

/** Each is run once more with `--json`; a `#` is another number then, for what can be done only once. */
const tables = (): Readonly<Record<string, readonly string[]>> => ({
  'client list': [],
  'user list': [],
  audit: [],
  'log query': OF_ONE,
  'matter history': ['TEST', 'G-1'],
  'queue partitions': [],
});

/** Names and values, one under the other. */
const fieldTables = (): Readonly<Record<string, readonly string[]>> => ({
  'client create': ['--id', 'g-new-#', '--system-code', 'G-NEW', '--operator', 'golden'],
  'client rotate': ['g-new-1', '--operator', 'golden'],
  'matter get': ['TEST', 'G-1'],
});

/** Sentences, lines and lists: of these the JSON alone is for programs. */
const others = (): Readonly<Record<string, readonly string[]>> => ({
  'client limit': ['g-new-1', '--rate', '5', '--operator', 'golden'],
  'client disable': ['g-new-1', '--operator', 'golden'],
  'client enable': ['g-new-1', '--operator', 'golden'],
  'client reseal': ['--operator', 'golden'],
  'user import': [inFolder('users.csv'), '--operator', 'golden'],
  'user import of a dry run': [inFolder('users.csv'), '--disable-missing', '--dry-run'],
  'user disable': ['erin', '--operator', 'golden'],
  'user enable': ['erin', '--operator', 'golden'],
  'matter export': ['--system-code', 'TEST'],
  'log show': [ids.applied, '--body'],
  'log show of a refusal': [ids.refused],
  'log tail': OF_ONE,
  'log export': ['--system-code', 'TEST'],
  'log resend': OF_ONE,
  'queue pause': ['g-new-1', '--reason', 'a reason', '--operator', 'golden'],
  'queue resume': ['g-new-1', '--operator', 'golden'],
  push: [inFolder('pushes.ndjson'), ...signer()],
  'push of a line that fails': [inFolder('bad.ndjson'), ...signer()],
  'push of a dry run': [inFolder('pushes.ndjson'), ...signer(), '--dry-run'],
  // After the push that failed.
  'log report': signer(),
  reconcile: [inFolder('pushes.ndjson'), '--system-code', 'TEST', '--orphans'],
  erase: ['--user', 'nobody', '--operator', 'golden'],
  'erase of a dry run': ['--user', 'nobody', '--dry-run'],
  doctor: signer(),
});

const lineOf = (command: string, args: readonly string[], n: number) => [
  ...command.replace(/ of .*/, '').split(' '),
  ...args.map((arg) => arg.replace('#', String(n))),
];

async function jsonFields(command: string, args: readonly string[]): Promise<string[]> {
  const { stdout, stderr } = await run([...lineOf(command, args, 3), '--json']);
  const values = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  if (values.length === 0) throw new Error(`${command} --json printed nothing: ${stderr}`);
  // Tries that a slow service takes are no fields.
  const fields = fieldsOf(values).filter((field) => !field.includes('retryReasons.'));
  return fields.map((field) => field.replace(/^\[\]\.?/, ''));
}

async function textOf(command: string, args: readonly string[]): Promise<string[]> {
  const { exitCode, stdout, stderr } = await run(lineOf(command, args, 2));
  if (exitCode !== 0) throw new Error(`${command}: ${stderr}`);
  return stdout.trimEnd().split('\n');
}

test('the heads of tables', async () => {
  const heads: Record<string, string[]> = {};
  for (const [command, args] of Object.entries(fieldTables())) {
    const lines = await textOf(command, args);
    heads[command] = lines.map((line) => String(line.split(/\s{2,}/)[0]));
  }
  for (const [command, args] of Object.entries(tables())) {
    const [head = ''] = await textOf(command, args);
    heads[command] = head.trim().split(/\s{2,}/);
  }
  const csv = [...(tables()['log query'] ?? []), '--format', 'csv'];
  const [head = ''] = await textOf('log export', csv);
  heads['log export --format csv'] = head.trim().split(',');
  expectGolden('matterctl-heads.json', heads);
});

test('the fields of --json', async () => {
  const fields: Record<string, string[]> = {};
  for (const commands of [fieldTables(), others(), tables()]) {
    for (const [command, args] of Object.entries(commands)) {
      fields[command] = await jsonFields(command, args);
    }
  }
  // An idle partition has no job.
  fields['queue partitions'] = await until('a partition with a job', async () => {
    await service.push('upsert', FULL);
    const found = await jsonFields('queue partitions', []);
    return found.includes('[].job.jobId') && found;
  });
  // The service writes its counts once in a while, also that of the push with a wrong signature.
  fields['log report'] = await until('the count of the push with a wrong signature', async () => {
    const found = await jsonFields('log report', signer());
    return found.includes('unauthenticatedReasons[].reason') && found;
  });
  expectGolden('matterctl-json.json', fields);
});
