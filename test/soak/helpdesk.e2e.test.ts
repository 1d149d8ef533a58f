/** The whole main job on real input: a help desk's 21,348 pushes through `matterctl push`. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { nativeCollection } from '../../src/infra/mongo';
import { matterModel } from '../../src/storage/ledger/matters';
import { entryModel } from '../../src/storage/push-log/entry';
import { changeByHand } from '../support/hand-changes';
import { foldHelpdesk, hasHelpdesk, PUSHES, USERS } from '../support/helpdesk';
import { type Service, startService } from '../support/service';
import { until } from '../support/wait';

const PROJECT = path.resolve(__dirname, '../..');
const LINES = 21_348;
const run = promisify(execFile);

interface Summary {
  failed: number;
  retries: number;
  /** Retries by the reason of the rejection before each. */
  retryReasons: Record<string, number>;
  /** Pushes per second. */
  rate: number;
  elapsedMs: number;
  outcomes: Record<string, number>;
}

if (!hasHelpdesk) {
  console.warn('SKIPPED: the help desk data (../shared/data) is not here; its run was not tested');
}
const whereData = hasHelpdesk ? describe : describe.skip;

whereData('the help desk file', () => {
  // Where all is skipped, nothing would remove it.
  const folder = hasHelpdesk ? mkdtempSync(path.join(tmpdir(), 'matter-push-helpdesk-')) : '';
  let service: Service;
  beforeAll(async () => {
    service = await startService({
      processes: true,
      webs: 2,
      workers: 2,
      env: { LOG_LEVEL: 'info' },
    });
    writeFileSync(path.join(folder, 'secret'), service.secret);
    await matterctl('user', 'import', USERS);
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const matterctl = (...args: string[]) => matterctlOf(service, ...args);
  const matterctlOf = async (of: Service, ...args: string[]): Promise<string> => {
    const tool = path.join(PROJECT, 'dist/tools/matterctl/matterctl.js');
    const env = { ...process.env, ...of.env };
    const options = { env, maxBuffer: 256 * 1024 * 1024 };
    return (await run(process.execPath, [tool, ...args], options)).stdout;
  };
  /** Two callers at once, one per web process, each with the tickets that are its own, in their order. */
  const halves = () => {
    const lines = readFileSync(PUSHES, 'utf8').trim().split('\n');
    const isOdd = (line: string) => /"HD-\d*[13579]"/.test(line);
    return [lines.filter(isOdd), lines.filter((line) => !isOdd(line))].map((half, index) => {
      const file = path.join(folder, `half-${index}.ndjson`);
      writeFileSync(file, `${half.join('\n')}\n`);
      return file;
    });
  };
  const pushAll = async (
    name: string,
    { to: of = service, more = [] }: { to?: Service; more?: readonly string[] } = {},
  ): Promise<Summary> => {
    const secretFile = path.join(folder, `secret-${name.replaceAll(' ', '-')}`);
    writeFileSync(secretFile, of.secret);
    const summaries = await Promise.all(
      halves().map(async (file, index) => {
        const signer = ['--client-id', of.clientId, '--secret-file', secretFile];
        const to = ['--url', of.urlOf(index), '--concurrency', '64', '--json', ...more];
        return JSON.parse(await matterctlOf(of, 'push', file, ...signer, ...to)) as Summary;
      }),
    );
    const countsOf = (field: 'outcomes' | 'retryReasons') => {
      const counts: Record<string, number> = {};
      for (const [name, count] of summaries.flatMap((summary) => Object.entries(summary[field]))) {
        counts[name] = (counts[name] ?? 0) + count;
      }
      return counts;
    };
    const sum = (field: 'failed' | 'retries' | 'rate') =>
      summaries.reduce((total, summary) => total + summary[field], 0);
    const elapsedMs = Math.max(...summaries.map((summary) => summary.elapsedMs));
    const all = { failed: sum('failed'), retries: sum('retries'), rate: sum('rate'), elapsedMs };
    const whole = {
      ...all,
      outcomes: countsOf('outcomes'),
      retryReasons: countsOf('retryReasons'),
    };
    console.info(`help desk file, ${name}: ${JSON.stringify(whole)}`);
    return whole;
  };
  /** How long pushes waited between their receipt and their commit, milliseconds. */
  const waitsOf = async () => {
    const entries = await entryModel(service.db).find({}, 'receivedAt settledAt').lean();
    const waits = entries.map(
      ({ receivedAt, settledAt }) => Number(settledAt) - Number(receivedAt),
    );
    waits.sort((a, b) => a - b);
    return { longest: waits.at(-1) ?? 0, median: waits[waits.length >> 1] ?? 0 };
  };
  const exported = async (of = service) => {
    const text = await matterctlOf(of, 'matter', 'export', '--system-code', 'TEST');
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .sort((a, b) => (a.externalId < b.externalId ? -1 : 1));
  };
  /** Without what each ledger gives by itself: ids, and when it was written. */
  const comparable = (matters: Record<string, unknown>[]) =>
    matters.map(({ matterId: _id, createdAt: _c, updatedAt: _u, deletedAt: _d, ...rest }) => rest);
  /** Of all lines, as the push log has them. */
  const outcomesIn = async (of: Service) => {
    const counts = await entryModel(of.db).aggregate<{ _id: string; count: number }>([
      { $group: { _id: '$result', count: { $sum: 1 } } },
    ]);
    return Object.fromEntries(counts.map(({ _id, count }) => [_id, count]));
  };
  const total = (outcomes: Record<string, number>) =>
    Object.values(outcomes).reduce((sum, count) => sum + count, 0);

  test('goes through with code 0 for every line, though a worker is killed in the middle', async () => {
    const pushing = pushAll('first run');
    await until(
      'half of it',
      async () => (await matterModel(service.db).estimatedDocumentCount()) > 2_000,
    );
    const [victim] = service.workers;
    victim?.kill('SIGKILL');
    await victim?.exited;
    await service.startWorker();
    const summary = await pushing;
    const { longest, median } = await waitsOf();
    console.info(`longest wait of a push, the worker's death included: ${longest} ms`);
    expect(summary.failed).toBe(0);
    expect(total(summary.outcomes)).toBe(LINES);
    // The dead worker's keys moved on within 3 s; a slow machine shows in the wait of most pushes.
    expect(longest).toBeLessThan(3_000 + 30 * median);
    // A slow machine may shed what waits behind the dead worker, and the transaction that it left open
    // may refuse a few; nothing else is a reason to send again.
    const {
      BACKLOG_FULL: _shed,
      DATABASE_UNAVAILABLE: refused = 0,
      ...others
    } = summary.retryReasons;
    expect(others).toEqual({});
    expect(refused).toBeLessThan(LINES / 100);
    expect(await entryModel(service.db).countDocuments({ state: 'PERSISTED' })).toBe(LINES);
  });

  test('leaves exactly what a plain sequential fold of the file gives', async () => {
    const expected = foldHelpdesk();
    const matters = await exported();
    expect(matters).toHaveLength(expected.size);
    for (const matter of matters) {
      expect(matter).toMatchObject(expected.get(matter.externalId) ?? { externalId: 'unexpected' });
    }
  });

  test('one by one (--batch 1) it leaves the same ledger as in batches, and the same outcomes', async () => {
    const other = await startService({
      processes: true,
      webs: 2,
      workers: 2,
      env: { LOG_LEVEL: 'info' },
    });
    try {
      await matterctlOf(other, 'user', 'import', USERS);
      const { failed, outcomes } = await pushAll('one by one', {
        to: other,
        more: ['--batch', '1'],
      });
      expect(failed).toBe(0);
      const log = entryModel(service.db);
      const inBatches = await log.countDocuments({ batchId: { $exists: true } });
      console.info(`lines that went in batches: ${inBatches} of ${LINES}`);
      expect(inBatches).toBeGreaterThan(LINES * 0.9);
      expect(await entryModel(other.db).countDocuments({ batchId: { $exists: true } })).toBe(0);
      expect(outcomes).toEqual(await outcomesIn(service));
      expect(comparable(await exported(other))).toEqual(comparable(await exported()));
    } finally {
      await other.stop();
    }
  });

  test('pushed a second time it leaves the ledger as it was', async () => {
    const before = await exported();
    const summary = await pushAll('second run');
    expect(summary.failed).toBe(0);
    expect(total(summary.outcomes)).toBe(LINES);
    const content = (matters: Record<string, unknown>[]) =>
      matters.map(({ updatedAt: _u, revision: _r, ...rest }) => rest);
    expect(content(await exported())).toEqual(content(before));
  });

  describe('reconciled with its ledger', () => {
    const seed = Number(process.env.RECONCILE_SEED ?? Date.now());
    const repushFile = path.join(folder, 'repush.ndjson');
    /** The differences by externalId; the summary is the last line. */
    const reconcile = async (...more: string[]) => {
      const options = ['--system-code', 'TEST', '--repush', repushFile, '--json', ...more];
      const ended = await matterctl('reconcile', PUSHES, ...options).then(
        (stdout) => ({ code: 0, stdout }),
        (failed: { code: number; stdout: string }) => failed,
      );
      const lines = ended.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const { summary } = lines.pop();
      const found = new Map<string, string[]>();
      for (const { externalId, difference } of lines) {
        found.set(externalId, [...(found.get(externalId) ?? []), difference]);
      }
      console.info(`reconcile ${more.join(' ')}: ${JSON.stringify(summary)}`);
      return { code: ended.code, found, summary };
    };
    const repush = async () => {
      const signer = [
        '--client-id',
        service.clientId,
        '--secret-file',
        path.join(folder, 'secret'),
      ];
      const pushed = await matterctl(
        'push',
        repushFile,
        ...signer,
        '--url',
        service.urlOf(),
        '--json',
      );
      return JSON.parse(pushed) as Summary;
    };
    /** What a mended matter has to say again; ids and times of the ledger's own are others. */
    const contents = async () => {
      const matters = nativeCollection(matterModel(service.db));
      const all = await matters.find().sort({ externalId: 1 }).toArray();
      return all.map(
        ({ _id, createdAt: _c, updatedAt: _u, revision: _r, pastHandlers: _p, ...rest }) => rest,
      );
    };

    test('nothing differs; 50 changes by hand are found, and mended by pushing', async () => {
      expect(await reconcile('--orphans')).toMatchObject({ code: 0, found: new Map() });
      const before = await contents();
      console.info(`changes by hand: RECONCILE_SEED=${seed}`);
      const changed = await changeByHand(nativeCollection(matterModel(service.db)), 50, seed);
      const isNewer = ([, kinds]: [string, readonly string[]]) => kinds.includes('NEWER_HERE');
      const newer = new Map([...changed].filter(isNewer));

      const { code, found, summary } = await reconcile();
      expect(code).toBe(1);
      expect(found).toEqual(changed);
      expect(summary.notRepushed).toEqual({ NEWER_HERE: newer.size });
      expect(await repush()).toMatchObject({ failed: 0, lines: 50 - newer.size });
      expect((await reconcile()).found).toEqual(newer);

      expect((await reconcile('--overwrite-newer')).summary.overwriting).toBeGreaterThan(0);
      expect(await repush()).toMatchObject({ failed: 0 });
      const onlyNewer = new Map([...newer.keys()].map((id) => [id, ['NEWER_HERE']]));
      expect((await reconcile()).found).toEqual(onlyNewer);
      const withoutTime = (matters: Awaited<ReturnType<typeof contents>>) =>
        matters.map((matter) =>
          newer.has(matter.externalId) ? { ...matter, sourceUpdatedAt: null } : matter,
        );
      expect(withoutTime(await contents())).toEqual(withoutTime(before));
    });
  });
});
