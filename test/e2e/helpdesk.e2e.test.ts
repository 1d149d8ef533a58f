/** The whole main job on real input: a help desk's 21,348 pushes through `matterctl push`. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { matterModel } from '../../src/ledger/matter-model';
import { entryModel } from '../../src/push-log/entry-model';
import { foldHelpdesk, hasHelpdesk, PUSHES, USERS } from '../support/helpdesk';
import { type Service, startService } from '../support/service';
import { until } from '../support/wait';

const PROJECT = path.resolve(__dirname, '../..');
const LINES = 21_348;
const run = promisify(execFile);

if (!hasHelpdesk) {
  console.warn('SKIPPED: the help desk data (../shared/data) is not here; its run was not tested');
}
const whereData = hasHelpdesk ? describe : describe.skip;

whereData('the help desk file', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'matter-push-helpdesk-'));
  let service: Service;
  beforeAll(async () => {
    service = await startService({ webs: 2, workers: 2, env: { LOG_LEVEL: 'info' } });
    writeFileSync(path.join(folder, 'secret'), service.secret);
    await matterctl('user', 'import', USERS);
  }, 120_000);
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const matterctl = async (...args: string[]): Promise<string> => {
    const tool = path.join(PROJECT, 'dist/src/cli/matterctl.js');
    const env = { ...process.env, ...service.env };
    const options = { env, maxBuffer: 256 * 1024 * 1024 };
    return (await run(process.execPath, [tool, ...args], options)).stdout;
  };
  const pushAll = async (name: string) => {
    const stdout = await matterctl(
      'push',
      PUSHES,
      ...['--client-id', service.clientId, '--secret-file', path.join(folder, 'secret')],
      ...['--url', service.urlOf(1), '--concurrency', '128', '--json'],
      ...['--checkpoint', path.join(folder, `${name}.checkpoint`)],
      ...['--failures', path.join(folder, `${name}.failed.ndjson`)],
    );
    console.info(`help desk file, ${name}: ${stdout.trim()}`);
    return JSON.parse(stdout);
  };
  const exported = async () => {
    const lines = (await matterctl('matter', 'export', '--system-code', 'TEST')).trim().split('\n');
    return lines
      .map((line) => JSON.parse(line))
      .sort((a, b) => (a.externalId < b.externalId ? -1 : 1));
  };
  const total = (outcomes: Record<string, number>) =>
    Object.values(outcomes).reduce((sum, count) => sum + count, 0);

  test('goes through with code 0 for every line, though a worker is killed in the middle', async () => {
    const pushing = pushAll('first run');
    await until(
      'half of it',
      async () => (await matterModel(service.db).estimatedDocumentCount()) > 2_000,
      300_000,
    );
    const [victim] = service.workers;
    victim?.kill('SIGKILL');
    await victim?.exited;
    await service.startWorker();
    const summary = await pushing;
    expect(summary.failed).toBe(0);
    expect(total(summary.outcomes)).toBe(LINES);
    expect(await entryModel(service.db).countDocuments({ state: 'PERSISTED' })).toBe(LINES);
  }, 600_000);

  test('leaves exactly what a plain sequential fold of the file gives', async () => {
    const expected = foldHelpdesk();
    const matters = await exported();
    expect(matters).toHaveLength(expected.size);
    for (const matter of matters) {
      expect(matter).toMatchObject(expected.get(matter.externalId) ?? { externalId: 'unexpected' });
    }
  }, 120_000);

  test('pushed a second time it leaves the ledger as it was', async () => {
    const before = await exported();
    const summary = await pushAll('second run');
    expect(summary.failed).toBe(0);
    expect(total(summary.outcomes)).toBe(LINES);
    const content = (matters: Record<string, unknown>[]) =>
      matters.map(({ updatedAt: _u, revision: _r, ...rest }) => rest);
    expect(content(await exported())).toEqual(content(before));
  }, 600_000);
});
