/** The blocks for bash of the README, of docs/reconcile.md and docs/batches.md, pasted as they stand there, against a running service. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDemo } from '../../tools/local/prepare-data';
import { untilKnown } from '../support/known-client';
import type { SharedService } from '../support/service';
import { sharedService } from '../support/shared-service';

const ROOT = join(__dirname, '../..');
const TOOLS = { bash: '--version', openssl: 'version', curl: '--version' };
const missing = Object.entries(TOOLS)
  .filter(([tool, flag]) => spawnSync(tool, [flag]).status !== 0)
  .map(([tool]) => tool);
/** Not the settings of whoever runs the tests: their start-up files may print or fail. */
const SHELL = ['--noprofile', '--norc', '-euo', 'pipefail', '-c'];
const run = promisify(execFile);

if (missing.length > 0) {
  console.warn(`SKIPPED: the README's first push was not tried, for want of ${missing.join(', ')}`);
  test.skip(`the README's first push (skipped: no ${missing.join(', ')} here)`, () => {});
} else {
  describe("the README's first push", tryFirstPush);
}

/** An answer without what is another one each time; its fields stay. */
const steady = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (key, value) =>
      ['requestId', 'matterId', 'timestamp'].includes(key) ? key : value,
    ),
  );

function tryFirstPush(): void {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-readme-'));
  const dataDir = join(folder, '.data');
  let service: SharedService;
  let demo: { clientId: string; secret: string };
  beforeAll(async () => {
    // As if it were the project's folder, where nothing is to be left.
    symlinkSync(join(ROOT, 'dist'), join(folder, 'dist'));
    mkdirSync(dataDir);
    service = await sharedService();
    // The function by which npm start makes the demo client and the users that the block names.
    demo = await createDemo({ ...process.env, ...service.env, DATA_DIR: dataDir });
    await untilKnown({ url: service.urlOf(), ...demo });
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const blocksOf = (paper: string) =>
    [...readFileSync(join(ROOT, paper), 'utf8').matchAll(/```bash\n([\s\S]*?)```/g)].map(
      ([, block = '']) => block,
    );
  const [firstPush = '', ...others] = blocksOf('README.md');
  const paste = async (variables: Record<string, string>, ...more: readonly string[]) => {
    const block = [firstPush, ...more].join('\n');
    const env = { PATH: process.env.PATH, URL: service.urlOf(), ...variables };
    const { stdout, stderr } = await run('bash', [...SHELL, block], { env, cwd: folder });
    return { stdout, stderr };
  };
  const answerOf = async (variables: Record<string, string>) => {
    const { stdout, stderr } = await paste(variables);
    expect(stderr).toBe('');
    return stdout;
  };

  test('finds the demo client where npm start keeps it', async () => {
    const answer = await answerOf({ DATA_DIR: dataDir });
    expect(answer).toContain('"code":0');
    expect(JSON.parse(answer)).toMatchObject({ data: { outcome: 'CREATED' } });
  });

  test('takes client and secret as variables; pasted again it is answered as the first time', async () => {
    const answer = await answerOf({ CLIENT_ID: demo.clientId, CLIENT_SECRET: demo.secret });
    expect(answer).toContain('"code":0');
    expect(JSON.parse(answer)).toMatchObject({ data: { outcome: 'CREATED' } });
  });

  test('the questions of docs/reconcile.md are answered, in the same shell', async () => {
    const [questions = '', ...rest] = blocksOf('docs/reconcile.md');
    expect(rest).toEqual([]);
    const { stdout, stderr } = await paste({ DATA_DIR: dataDir }, questions);
    expect(stderr).toBe('');
    const answers = stdout.trim().split('\n');
    const [first, log, diff, digest, ...orphans] = answers.map((answer) => JSON.parse(answer));
    for (const answer of [first, log, diff, digest]) expect(answer).toMatchObject({ code: 0 });
    // Pasted for the third time: two retries, and the push that they repeat.
    expect(log.data.entries.at(-1)).toMatchObject({ state: 'PERSISTED', outcome: 'CREATED' });
    expect(diff.data).toMatchObject({
      compared: 2,
      differences: [{ externalId: 'PR-2026-002', differences: ['MISSING'] }],
    });
    expect(digest.data.total).toEqual({ count: 1, hash: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(orphans).toMatchObject([{ code: 0, data: { listed: 1, open: 1, orphans: 0 } }]);
  });

  test('the batch of docs/batches.md is answered line by line, and not applied again, in the same shell', async () => {
    const [batches = '', ...rest] = blocksOf('docs/batches.md');
    expect(rest).toEqual([]);
    const { stdout, stderr } = await paste({ DATA_DIR: dataDir }, batches);
    expect(stderr).toBe('');
    const [, first, again] = stdout
      .trim()
      .split('\n')
      .map((answer) => JSON.parse(answer));
    const [, shown = ''] =
      /```json\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/batches.md'), 'utf8')) ?? [];
    // As the page shows it, but for ids and times.
    expect(steady(first)).toEqual(steady(JSON.parse(shown)));
    expect(again.data.results).toMatchObject([
      { line: 1, code: 0, outcome: 'CREATED', replayed: true },
      { line: 2, code: 400, reason: 'UNKNOWN_USER' },
      { line: 3, code: 0, outcome: 'UPDATED', replayed: true },
    ]);
  });

  test('a file is pushed, what failed is told, and what differs, in the same shell', async () => {
    expect(others).toHaveLength(3);
    const { stdout } = await paste({ DATA_DIR: dataDir }, ...others);
    expect(stdout).toMatch(/CREATED +1/);
    expect(stdout).toContain('UNKNOWN_USER');
    expect(stdout).toMatch(/PR-2 .*MISSING|MISSING.*PR-2/);
  });

  test('with a wrong secret it is rejected', async () => {
    const answer = await answerOf({ CLIENT_ID: demo.clientId, CLIENT_SECRET: 'wrong' });
    expect(JSON.parse(answer)).toMatchObject({ code: 401, reason: 'SIGNATURE_MISMATCH' });
  });
}
