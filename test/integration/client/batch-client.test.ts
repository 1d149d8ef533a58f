/** The client and `matterctl push`, in batches, against the service itself and through a proxy that cuts answers. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BATCH_PATH } from '../../../src/protocol/paths';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import {
  createMatterPushClient,
  type MatterPushClient,
  MatterPushError,
} from '../../../tools/client/matter-push-client';
import { matterctl } from '../../support/cli-tool';
import { storedMatter } from '../../support/ledger-check';
import { type Relay, startRelay } from '../../support/relay';
import { type Service, startService } from '../../support/service';

const folder = mkdtempSync(path.join(tmpdir(), 'matterctl-batch-'));
const file = path.join(folder, 'in.ndjson');
let service: Service;
let relay: Relay;
let client: MatterPushClient;
beforeAll(async () => {
  // Few fit into a partition: a batch on one matter is rejected in part.
  service = await startService({ env: { PARTITION_LIMIT: '20' } });
  relay = await startRelay(service.urlOf());
  const { clientId, secret } = service;
  client = createMatterPushClient({ url: relay.url, clientId, secret });
  writeFileSync(path.join(folder, 'secret'), secret);
});
afterAll(async () => {
  await client?.close();
  await relay?.close();
  await service?.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  relay.relayed.length = 0;
  relay.fate = () => 'pass';
});

const notice = (externalId: string | undefined, over: object = {}) =>
  ({
    operation: 'upsert',
    body: { matterType: 'NOTICE', externalId, title: 't', ...over },
  }) as const;
const status = (externalId: string, bizStatus: string) =>
  ({ operation: 'status', body: { externalId, bizStatus } }) as const;
const removal = (externalId: string) => ({ operation: 'delete', body: { externalId } }) as const;
/** As a line of a file. */
const lineOf = ({ operation, ...rest }: { operation: string; body: object }) =>
  JSON.stringify({ op: operation, ...rest });
const write = (lines: readonly string[]) => writeFileSync(file, `${lines.join('\n')}\n`);
const push = async (...more: string[]) => {
  const signer = ['--client-id', service.clientId, '--secret-file', path.join(folder, 'secret')];
  const ended = await matterctl(['push', file, ...signer, '--url', relay.url, '--json', ...more]);
  return { ...ended, summary: JSON.parse(ended.stdout) };
};
const batches = () => relay.relayed.filter((one) => one.path === BATCH_PATH);
const statesOf = async (prefix: string) => {
  const entries = await entryModel(service.db)
    .find({ externalId: new RegExp(`^${prefix}`) })
    .lean();
  const counts: Record<string, number> = {};
  for (const { state } of entries) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
};

describe('client.batch', () => {
  test('has a result or an error for each push, whatever became of it', async () => {
    const old = { sourceUpdatedAt: '2020-01-01T00:00:00Z' };
    const results = await client.batch([
      notice('C-1', { sourceUpdatedAt: '2026-01-01T00:00:00Z' }),
      notice('C-1', old),
      status('C-1', 'DONE'),
      { ...removal('C-1'), idempotencyKey: 'C-1/removed' },
      removal('C-1'),
      notice('C-1', { sourceUpdatedAt: '2026-02-01T00:00:00Z', tittle: 'x' }),
      notice('C-2', { title: '' }),
      status('C-none', 'DONE'),
      notice(undefined),
    ]);
    const shortly = results.map((one) =>
      one instanceof MatterPushError ? `${one.code} ${one.reason}` : one.outcome,
    );
    expect(shortly).toEqual([
      ...['CREATED', 'STALE_IGNORED', 'UPDATED', 'DELETED', 'ALREADY_DELETED', 'REVIVED'],
      ...['400 VALIDATION_FAILED', '404 MATTER_NOT_FOUND', 'CREATED'],
    ]);
    expect(batches()).toMatchObject([{ status: 207 }]);
    expect(results[0]).toEqual({
      ...{ matterId: expect.stringMatching(/^\d+$/), externalId: 'C-1', outcome: 'CREATED' },
      ...{ requestId: expect.stringMatching(/^[0-9a-f]{24}$/), replayed: false, tries: 1 },
    });
    expect(results[5]).toMatchObject({ warnings: [{ field: 'tittle', suggestion: 'title' }] });
    expect(results[6]).toMatchObject({
      ...{ retryable: false, tries: 1, requestId: expect.stringMatching(/^[0-9a-f]{24}$/) },
      errors: [{ field: 'title', message: expect.stringMatching(/\w/) }],
    });
    expect(results[8]).toMatchObject({ externalId: expect.stringMatching(/^auto:/) });
    const again = { ...removal('C-1'), idempotencyKey: 'C-1/removed' };
    expect(await client.batch([again, status('C-1', 'OPEN')])).toMatchObject([
      { outcome: 'DELETED', replayed: true },
      { outcome: 'UPDATED', replayed: false },
    ]);
  });

  test('an answer that is cut off is asked for again: no push takes a second effect', async () => {
    relay.fate = (_, nth) => (nth === 1 ? 'cut' : 'pass');
    const pushes = Array.from({ length: 10 }, (_, n) => notice(`CUT-${n}`));
    const results = await client.batch([...pushes, status('CUT-0', 'DONE')]);
    expect(results.every((one) => !(one instanceof MatterPushError) && one.replayed)).toBe(true);
    expect(results[0]).toMatchObject({ outcome: 'CREATED', tries: 2 });
    // Lines went again, some of them alone: with the same key and body, or they would not be replayed.
    expect(await statesOf('CUT-')).toEqual({ PERSISTED: 11, REPLAYED: 11 });
    expect((await storedMatter(service.db, 'CUT-0')).revision).toBe(2);
  });

  test('what a full partition rejects goes again, in the order of its matter', async () => {
    const pushes = Array.from({ length: 60 }, (_, n) => status('FULL', `S${n}`));
    const results = await client.batch([notice('FULL'), ...pushes]);
    expect(results.filter((one) => one instanceof MatterPushError)).toEqual([]);
    expect(batches()[0]?.answer).toContain('PARTITION_FULL');
    expect(batches()[0]?.answer).toContain('SKIPPED_AFTER_FAILURE');
    expect(await storedMatter(service.db, 'FULL')).toMatchObject({
      bizStatus: 'S59',
      revision: 61,
    });
  });

  test('autoBatch gathers single calls', async () => {
    const { clientId, secret } = service;
    const gathering = createMatterPushClient({ url: relay.url, clientId, secret, autoBatch: true });
    try {
      const calls = [
        gathering.upsert(notice('AUTO-1').body),
        gathering.upsert(notice('AUTO-2').body),
      ];
      expect(await Promise.all(calls)).toMatchObject([
        { outcome: 'CREATED' },
        { outcome: 'CREATED' },
      ]);
      await expect(gathering.delete({ externalId: 'AUTO-none' })).rejects.toMatchObject({
        code: 404,
      });
      expect(batches()).toHaveLength(1);
    } finally {
      await gathering.close();
    }
  });
});

describe('matterctl push', () => {
  /** Of seven matters, each created first. */
  const many = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, n) => {
      const id = `${prefix}${n % 7}`;
      return lineOf(n < 7 ? notice(id) : status(id, `S${n}`));
    });
  const expectAll = async (prefix: string, count: number) => {
    for (const id of [0, 1, 2, 3, 4, 5, 6]) {
      const ns = Array.from({ length: count }, (_, n) => n).filter((n) => n % 7 === id);
      const matter = await storedMatter(service.db, `${prefix}${id}`);
      expect(matter).toMatchObject({ bizStatus: `S${ns.at(-1)}`, revision: ns.length });
    }
  };

  test('a 207: what fails is in the failure file with its line, its key and its requestId', async () => {
    write([
      lineOf(notice('P-1')),
      '',
      lineOf(notice('P-2', { title: '' })),
      '{oops',
      JSON.stringify({ op: 'delete', body: { externalId: 'P-none' }, key: 'mine' }),
      lineOf(status('P-1', 'DONE')),
    ]);
    const { exitCode, summary } = await push();
    expect(exitCode).toBe(1);
    expect(summary).toMatchObject({
      ...{ lines: 5, ok: 2, failed: 3, retries: 0, outcomes: { CREATED: 1, UPDATED: 1 } },
      failures: { VALIDATION_FAILED: 1, MALFORMED_LINE: 1, MATTER_NOT_FOUND: 1 },
    });
    const failed = readFileSync(`${file}.failed.ndjson`, 'utf8').trimEnd().split('\n');
    const rows = failed.map((line) => JSON.parse(line)).sort((a, b) => a.line - b.line);
    const requestId = expect.stringMatching(/^[0-9a-f]{24}$/);
    expect(rows).toMatchObject([
      { line: 3, code: 400, requestId, message: expect.stringContaining('title') },
      { line: 4, requestId: null },
      { line: 5, code: 404, key: 'mine', requestId },
    ]);
    expect(batches()).toMatchObject([{ status: 207 }]);
  });

  test('an answer that is cut off: the batch goes again, and no line takes a second effect', async () => {
    write(many('Q-', 70));
    relay.fate = (_, nth) => (nth === 2 ? 'cut' : 'pass');
    const { exitCode, summary } = await push('--batch', '14', '--concurrency', '1');
    expect(exitCode).toBe(0);
    expect(summary).toMatchObject({ lines: 70, ok: 70, replayed: 14, retries: 14 });
    await expectAll('Q-', 70);
  });

  test('stopped in the middle of a batch that was applied: the next run repeats its outcomes', async () => {
    write(many('R-', 70));
    relay.fate = (_, nth) => {
      if (nth !== 2) return 'pass';
      process.emit('SIGINT', 'SIGINT');
      process.emit('SIGINT', 'SIGINT');
      return 'hold';
    };
    const first = await push('--batch', '14', '--concurrency', '1');
    expect(first.exitCode).toBe(130);
    expect(first.summary).toMatchObject({ lines: 14, ok: 14, finished: false });
    relay.fate = () => 'pass';
    const second = await push('--batch', '14', '--concurrency', '1');
    expect(second.exitCode).toBe(0);
    expect(second.stderr).toMatch(/^Resuming: 14 lines are done/);
    expect(second.summary).toMatchObject({ lines: 70, ok: 70, resumed: 14, replayed: 14 });
    await expectAll('R-', 70);
    expect(await statesOf('R-')).toEqual({ PERSISTED: 70, REPLAYED: 14 });
  });

  test('a full partition costs no line its tries', async () => {
    write([
      lineOf(notice('S')),
      ...Array.from({ length: 60 }, (_, n) => lineOf(status('S', `S${n}`))),
    ]);
    const { exitCode, summary } = await push('--batch', '50', '--retries', '0');
    expect(exitCode).toBe(0);
    expect(summary).toMatchObject({ lines: 61, ok: 61, failed: 0 });
    expect(summary.retryReasons.PARTITION_FULL).toBeGreaterThan(0);
    expect(await storedMatter(service.db, 'S')).toMatchObject({ bizStatus: 'S59', revision: 61 });
  });

  test('a key that stands twice goes in two batches, and is one push', async () => {
    const line = JSON.stringify({ op: 'upsert', body: notice('T').body, key: 'twice' });
    write([line, lineOf(notice('T-2')), line]);
    const { exitCode, summary } = await push();
    expect(exitCode).toBe(0);
    expect(summary).toMatchObject({ ok: 3, replayed: 1, outcomes: { CREATED: 3 } });
  });

  describe('--dry-run', () => {
    const bad = [
      lineOf(notice('D-2', { title: '' })),
      '{oops',
      lineOf({
        operation: 'upsert',
        body: { ...notice('D-3').body, parties: [{ username: 'nobody', partyRole: 'ASSIGNEE' }] },
      }),
    ];
    const files = () => readdirSync(folder).sort();
    /** Where it takes long, it says how far it is. */
    const withoutProgress = (stderr: string) => stderr.replace(/^\d+\/\d+ lines,.*\n/gm, '');

    test('a file of many batches: VALID for each line, nothing is written', async () => {
      write([...many('D-', 70), lineOf(notice('D-1', { tittle: 'x' }))]);
      const before = files();
      const { exitCode, stderr, summary } = await push('--dry-run', '--batch', '14');
      expect([exitCode, withoutProgress(stderr)]).toEqual([0, '']);
      expect(summary).toMatchObject({
        ...{ dryRun: true, lines: 71, ok: 71, failed: 0, outcomes: { VALID: 71 }, finished: true },
        ...{ warned: 64, failuresFile: null, warnings: { 'UNKNOWN_FIELD tittle (title?)': 1 } },
      });
      expect(relay.relayed.length).toBeGreaterThan(5);
      expect(relay.relayed.every((one) => one.path === '/api/open/verify/batch')).toBe(true);
      expect(files()).toEqual(before);
      expect(await statesOf('D-')).toEqual({});
      expect(await matterModel(service.db).countDocuments({ externalId: /^D-/ })).toBe(0);
    });

    test.each(['200', '1'])('what would fail is told by its line, --batch %s', async (batch) => {
      write([lineOf(notice('D-1')), '', ...bad, lineOf(notice('D-4'))]);
      const before = files();
      const { exitCode, stderr, summary } = await push('--dry-run', '--batch', batch);
      expect(exitCode).toBe(1);
      const told = withoutProgress(stderr).trimEnd().split('\n').sort();
      expect(told).toEqual([
        expect.stringMatching(/^line 3: 400 VALIDATION_FAILED .*title/),
        expect.stringMatching(/^line 4: MALFORMED_LINE not JSON/),
        expect.stringMatching(/^line 5: 400 UNKNOWN_USER .*nobody/),
        'matterctl: 3 lines would fail',
      ]);
      expect(summary).toMatchObject({
        ...{ lines: 5, ok: 2, outcomes: { VALID: 2 }, failuresFile: null },
        failures: { VALIDATION_FAILED: 1, MALFORMED_LINE: 1, UNKNOWN_USER: 1 },
      });
      expect(files()).toEqual(before);
      expect(await statesOf('D-')).toEqual({});
    });

    test('with --failures they are written there', async () => {
      const failures = path.join(folder, 'would-fail');
      write([lineOf(notice('D-1')), ...bad]);
      const { exitCode, stderr, summary } = await push('--dry-run', '--failures', failures);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`3 lines would fail: see ${failures}`);
      expect(summary).toMatchObject({ failed: 3, failuresFile: failures });
      const rows = readFileSync(failures, 'utf8').trimEnd().split('\n');
      expect(rows.map((row) => JSON.parse(row).line).sort()).toEqual([2, 3, 4]);
    });

    test('an answer that is cut off is asked for again; a checkpoint makes no sense', async () => {
      write(many('D-', 28));
      relay.fate = (_, nth) => (nth === 2 ? 'cut' : 'pass');
      const { exitCode, summary } = await push('--dry-run', '--batch', '14');
      expect([exitCode, summary.outcomes]).toEqual([0, { VALID: 28 }]);
      const signer = ['--client-id', 'x', '--secret-file', 'y', '--url', relay.url];
      const wrong = await matterctl(['push', file, ...signer, '--dry-run', '--restart']);
      expect(wrong.exitCode).toBe(2);
      expect(wrong.stderr).toContain("'--dry-run' cannot be used with option '--restart'");
    });

    test('it ends in text for people', async () => {
      write([lineOf(notice('D-1'))]);
      const signer = [
        '--client-id',
        service.clientId,
        '--secret-file',
        path.join(folder, 'secret'),
      ];
      const { stdout } = await matterctl([
        'push',
        file,
        ...signer,
        '--url',
        relay.url,
        '--dry-run',
      ]);
      expect(stdout).toMatch(/^Dry run: 1 lines, in .*\n {2}VALID +1\n/);
    });
  });
});
