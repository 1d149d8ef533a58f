/** matterctl log and matter history on the log of a running service. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import type { OperatorEntryView } from '../../../src/protocol/log-entry';
import { entryModel, type LogEntry } from '../../../src/storage/push-log/entry';
import { createIdSource } from '../../../src/storage/push-log/request-id';
import { startProxy } from '../../../tools/harness/proxy';
import { type CliRun, matterctl } from '../../support/cli-tool';
import type { Answer } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

const TOOL = path.resolve(__dirname, '../../../dist/tools/matterctl/matterctl.js');
const ABSENT = '0123456789abcdef01234567';
const KEY = 'H-1/key';

/** Stands for the client of these tests. */
const MYSELF = '(this client)';

let service: SharedService;
/** What was pushed, by what it is to show. */
let made: Record<
  'created' | 'retried' | 'reused' | 'status' | 'stale' | 'rejected' | 'deleted' | 'late',
  Answer
>;

beforeAll(async () => {
  service = await sharedService();
  const push = (op: string, body: object, idempotencyKey?: string) =>
    service.push(op, { externalId: 'H-1', ...body }, idempotencyKey ? { idempotencyKey } : {});
  const upsert = {
    matterType: 'TODO',
    title: '报销单',
    sourceUpdatedAt: '2024-06-01T00:00:00Z',
    parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
  };
  made = {
    created: await push('upsert', upsert, KEY),
    retried: await push('upsert', upsert, KEY),
    reused: await push('upsert', { ...upsert, title: 'another' }, KEY),
    status: await push('status', { bizStatus: 'DONE', sourceUpdatedAt: '2024-06-03T00:00:00Z' }),
    stale: await push('status', { bizStatus: 'PENDING', sourceUpdatedAt: '2024-06-02T00:00:00Z' }),
    // The log does not know which matter a rejected body is about.
    rejected: await push('upsert', { externalId: 'H-R', title: '', matterType: 'X' }),
    deleted: await push('delete', {}),
    late: await push('status', { bizStatus: 'DONE' }),
  };
  await service.push('upsert', { matterType: 'NOTICE', externalId: '-H,2', title: 'other' });
});
afterAll(() => service.stop());

const run = (...args: string[]): Promise<CliRun> =>
  matterctl(args, { env: { MONGO_URL: service.env.MONGO_URL } });
const lines = (text: string) => text.split('\n').filter((line) => line !== '');
const views = async (...args: string[]): Promise<OperatorEntryView[]> => {
  const { exitCode, stdout, stderr } = await run(...args, '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) });
  return lines(stdout).map((line) => JSON.parse(line));
};
/** Pushes of other files can be recorded late. */
const own = <T extends { readonly clientId?: unknown }>(found: readonly T[]) =>
  found.filter(({ clientId }) => clientId === service.clientId);
const idsOf = (found: readonly OperatorEntryView[]) => found.map(({ requestId }) => requestId);
/** Of the matter, in their order. */
const madeIds = () => {
  const { rejected: _, ...others } = made;
  return Object.values(others).map(({ requestId }) => requestId);
};

describe('log query', () => {
  test('--batch lists the lines of a batch, and log show says that it is one', async () => {
    const line = (title: string) =>
      JSON.stringify({ op: 'upsert', body: { matterType: 'NOTICE', externalId: 'H-B', title } });
    const { requestId } = await service.push('batch', `${line('a')}\n${line('b')}\n`);
    const found = await views('log', 'query', '--batch', requestId, '--oldest-first');
    expect(found.map(({ batchId, batchLine }) => [batchId, batchLine])).toEqual([
      [requestId, 1],
      [requestId, 2],
    ]);
    expect(await run('log', 'show', requestId)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`matterctl log query --batch ${requestId}`),
    });
  });

  const ofMatter = ['--system-code', 'TEST', '--external-id', 'H-1'];

  test('shows the newest first, in a table', async () => {
    const { exitCode, stdout, stderr } = await run('log', 'query', ...ofMatter);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const [head, ...rows] = lines(stdout);
    expect(head).toMatch(
      /^RECEIVED \(Asia\/Shanghai\) +REQUEST ID +OP +MATTER +ATTEMPT +RESULT +MS *$/,
    );
    expect(rows.map((row) => row.split(/ {2,}/)[1])).toEqual(madeIds().reverse());
    expect(rows[0]).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} .* TEST\/H-1 +- +MATTER_DELETED +\d+/,
    );
    expect(rows.at(-2)).toMatch(/TEST\/H-1 +2 +CREATED \(replayed\) +\d+/);
    expect(rows.at(-3)).toMatch(/TEST\/H-1 +3 +UPDATED \(key reused\) +\d+/);
  });

  test('a limit is kept, and more are hinted at', async () => {
    const { stdout, stderr } = await run('log', 'query', ...ofMatter, '--limit', '2', '--json');
    expect(lines(stdout).map((line) => JSON.parse(line).requestId)).toEqual(
      madeIds().reverse().slice(0, 2),
    );
    expect(stderr).toContain('There are more than 2');
    const mine = ['--client-id', service.clientId];
    const oldest = await views('log', 'query', ...mine, '--oldest-first', '--limit', '3');
    expect(idsOf(oldest)).toEqual(madeIds().slice(0, 3));
  });

  test.each<[string[], (keyof typeof made)[]]>([
    [
      ['--system-code', 'TEST', '--key', KEY],
      ['reused', 'retried', 'created'],
    ],
    [['--operation', 'delete'], ['deleted']],
    [
      ['--client-id', MYSELF, '--operation', 'status'],
      ['late', 'stale', 'status'],
    ],
    [['--outcome', 'stale_ignored'], ['stale']],
    [['--system-code', 'TEST', '--outcome', 'STALE_IGNORED'], ['stale']],
    [['--reason', 'VALIDATION_FAILED'], ['rejected']],
    [['--state', 'REPLAYED'], ['retried']],
    [
      ['--reason', 'VALIDATION_FAILED,MATTER_DELETED'],
      ['late', 'rejected'],
    ],
    [
      ['--failed', '--since', 'yesterday'],
      ['late', 'rejected'],
    ],
    [
      ['--outcome', 'deleted', '--outcome', 'STALE_IGNORED'],
      ['deleted', 'stale'],
    ],
    [
      ['--state', 'REFUSED'],
      ['late', 'rejected'],
    ],
  ])('%j', async (args, expected) => {
    const given = args.map((arg) => (arg === MYSELF ? service.clientId : arg));
    const found = await views('log', 'query', ...given);
    expect(idsOf(own(found))).toEqual(expected.map((name) => made[name].requestId));
  });

  test('by request id, and by a window that begins or ends with a push', async () => {
    const [found] = await views('log', 'query', '--request-id', made.stale.requestId);
    expect(found).toMatchObject({ outcome: 'STALE_IGNORED', worker: expect.any(String) });
    const at = found?.receivedAt ?? '';
    const since = await views('log', 'query', ...ofMatter, '--from', at);
    expect(idsOf(since)).toEqual(madeIds().slice(4).reverse());
    const before = await views('log', 'query', ...ofMatter, '--from', '1h', '--to', at);
    expect(idsOf(before)).toEqual(madeIds().slice(0, 4).reverse());
  });

  test('nothing found is no failure', async () => {
    const none = await run('log', 'query', '--client-id', 'nobody');
    expect(none).toEqual({ exitCode: 0, stdout: '', stderr: 'No such pushes.\n' });
  });

  test('wrong usage is exit code 2', async () => {
    const { exitCode, stderr } = await run('log', 'query', '--external-id', 'H-1');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'matterctl: --external-id needs --system-code\n',
    });
    expect((await run('log', 'query', '--from', 'last week')).exitCode).toBe(2);
  });
});

describe('log show', () => {
  const show = async (name: keyof typeof made, ...more: string[]) => {
    const { exitCode, stdout } = await run('log', 'show', made[name].requestId, ...more);
    expect(exitCode).toBe(0);
    return stdout;
  };

  test('a persisted push: its way, its effect, the other attempts of its key', async () => {
    const text = await show('created');
    expect(lines(text)[0]).toBe('upsert, TEST/H-1: CREATED (times in Asia/Shanghai)');
    for (const step of ['queued', 'started', 'persisted']) {
      expect(text).toMatch(new RegExp(`^${step} +\\d{4}-.*:\\d\\d\\.\\d{3} +\\d+ ms`, 'm'));
    }
    expect(text).toMatch(new RegExp(`^client +${service.clientId} *$`, 'm'));
    expect(text).toMatch(new RegExp(`^matter id +${made.created.data.matterId} *$`, 'm'));
    expect(text).toMatch(/^key +H-1\/key *$/m);
    expect(text).toMatch(/^attempt +1 of 3 *$/m);
    expect(text).toMatch(
      new RegExp(
        `^other attempts +2: ${made.retried.requestId} REPLAYED, 3: ${made.reused.requestId} PERSISTED`,
        'm',
      ),
    );
    expect(text).toContain('\n  bizStatus: PENDING\n');
    expect(text).toContain('\n  parties added: ASSIGNEE alice\n');
    expect(text).toMatch(/^body +\d+ bytes, SHA-256 [0-9a-f]{64}/m);
    expect(text).not.toMatch(/-\d+ ms/);
  });

  test('a status: from what to what', async () => {
    expect(await show('status')).toContain('\n  bizStatus: PENDING → DONE\n');
  });

  test('a stale push: which instant lost', async () => {
    expect(await show('stale')).toMatch(
      /^stale +ignored: sent 2024-06-02 08:00:00 older than 2024-06-03 08:00:00/m,
    );
  });

  test('a rejected push: what was wrong, and no steps that it did not take', async () => {
    const text = await show('rejected');
    expect(text).toMatch(/^reason +VALIDATION_FAILED/m);
    expect(text).toMatch(/^ {2}matterType: ./m);
    expect(text).toMatch(/^ {2}title: ./m);
    expect(text).toMatch(/^refused {2}/m);
    expect(text).not.toMatch(/^(queued|started)/m);
  });

  test('a replayed push names the one it was answered as; a reused key is marked', async () => {
    const text = await show('retried');
    expect(text).toMatch(new RegExp(`^duplicate of +${made.created.requestId}`, 'm'));
    expect(text).toMatch(/^replayed {2}/m);
    expect(await show('reused')).toMatch(/^mark +KEY_REUSED/m);
  });

  test('the body comes where it is asked for, or that it is gone', async () => {
    expect(await show('status', '--body')).toMatch(/\n\n {2}\{"externalId":"H-1".*"DONE".*\}\n$/);
    const json = JSON.parse(await show('status', '--body', '--json'));
    expect(JSON.parse(json.body)).toMatchObject({ externalId: 'H-1', bizStatus: 'DONE' });
    expect(json).toMatchObject({ outcome: 'UPDATED', attempts: [] });
    await service.db.collection('push_bodies').deleteMany({});
    expect(await show('status', '--body')).toContain('The body is not kept (any more).');
    expect(JSON.parse(await show('status', '--body', '--json')).body).toBeNull();
    expect(JSON.parse(await show('created', '--json'))).not.toHaveProperty('body');
  });

  test('a body cannot imitate the lines of the command', async () => {
    const { requestId } = await service.push('upsert', '{\nstate  PERSISTED\noutcome  CREATED');
    const { stdout } = await run('log', 'show', requestId, '--body');
    expect(stdout).toMatch(/\n\n {2}\{\n {2}state {2}PERSISTED\n {2}outcome {2}CREATED\n$/);
    expect(stdout).not.toMatch(/^outcome {2}CREATED/m);
  });

  test('a body cannot give orders to the terminal', async () => {
    const { requestId } = await service.push('upsert', '{"title":"\u001b[2J\u009b\u202e');
    const { stdout } = await run('log', 'show', requestId, '--body');
    expect(stdout).toContain('{"title":"\\u001b[2J\\u009b\\u202e');
    const json = await run('log', 'show', requestId, '--body', '--json');
    for (const text of [stdout, json.stdout]) {
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    }
    expect(JSON.parse(json.stdout).body).toBe('{"title":"\u001b[2J\u009b\u202e');
  });

  test('an unknown id is exit code 1, what is none is 2', async () => {
    const { exitCode, stderr } = await run('log', 'show', ABSENT);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^matterctl: there is no push 0123456789abcdef01234567 .*\(Asia\/Shanghai\).*\n$/,
      ),
    });
    expect((await run('log', 'show', 'abc')).exitCode).toBe(2);
  });
});

describe('log export', () => {
  const all = async () => {
    const mine = { clientId: service.clientId };
    const entries = await entryModel(service.db).collection.find(mine).sort({ _id: -1 }).toArray();
    return entries.map(({ _id }) => String(_id));
  };

  test('NDJSON holds every entry, in either order, with its attempt', async () => {
    const found = own(await views('log', 'export'));
    expect(idsOf(found)).toEqual(await all());
    const oldestFirst = own(await views('log', 'export', '--oldest-first'));
    expect(idsOf(oldestFirst)).toEqual((await all()).reverse());
    const reused = found.find(({ requestId }) => requestId === made.reused.requestId);
    expect(reused?.attempt).toBe(3);
  });

  test('CSV read back is the same, but for the guard against formulas', async () => {
    const { exitCode, stdout } = await run('log', 'export', '--format', 'csv', '--bom');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\ufeffrequestId,receivedAt,.*\r\n/);
    const rows = own(parse(stdout, { bom: true, columns: true }) as Record<string, string>[]);
    const expected = own(await views('log', 'export')).map(toCells);
    expect(rows).toEqual(expected);
    expect(rows.map(({ externalId }) => externalId)).toContain("'-H,2");
  });

  test('filters narrow it, and a file without rows has its header', async () => {
    const stale = await views('log', 'export', '--outcome', 'STALE_IGNORED');
    expect(idsOf(stale)).toEqual([made.stale.requestId]);
    const none = await run('log', 'export', '--format', 'csv', '--client-id', 'nobody');
    expect(lines(none.stdout)).toHaveLength(1);
    expect((await run('log', 'export', '--bom')).exitCode).toBe(2);
  });

  /** What a cell of an exported view holds. */
  function toCells(view: OperatorEntryView): Record<string, string> {
    const cells = Object.entries(view).map(([name, value]) => {
      if (value === null || (Array.isArray(value) && value.length === 0)) return [name, ''];
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      return [name, text.startsWith('-') ? `'${text}` : text];
    });
    return Object.fromEntries(cells);
  }
});

describe('matter history', () => {
  test('tells what every push did, the oldest first', async () => {
    const { exitCode, stdout, stderr } = await run('matter', 'history', 'TEST', 'H-1');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const [head, ...rows] = lines(stdout);
    expect(head).toMatch(/^RECEIVED \(Asia\/Shanghai\) +OP +RESULT +REV +REQUEST ID +EFFECT$/);
    const told = rows.map((row) => row.split(/ {2,}/).slice(1));
    expect(told.map(([, , , requestId]) => requestId)).toEqual(madeIds());
    expect(told.map(([op, result, revision]) => [op, result, revision])).toEqual([
      ['upsert', 'CREATED', '1'],
      ['upsert', 'CREATED (replayed)', '-'],
      ['upsert', 'UPDATED (key reused)', '2'],
      ['status', 'UPDATED', '3'],
      ['status', 'STALE_IGNORED', '-'],
      ['delete', 'DELETED', '4'],
      ['status', 'MATTER_DELETED', '-'],
    ]);
    const effects = told.map(([, , , , effect]) => effect);
    expect(effects[0]).toContain('+ASSIGNEE alice');
    expect(effects[1]).toBe(`answered as ${made.created.requestId}`);
    expect(effects[2]).toBe('title');
    expect(effects[3]).toContain('bizStatus PENDING → DONE');
    expect(effects[4]).toBe('ignored: sent 2024-06-02 08:00:00 older than 2024-06-03 08:00:00');
    expect(effects[5]).toBe('deleted false → true');
  });

  test('as NDJSON, and limited to the newest', async () => {
    expect(idsOf(await views('matter', 'history', 'TEST', 'H-1'))).toEqual(madeIds());
    const { stdout, stderr } = await run('matter', 'history', 'TEST', 'H-1', '--limit', '2');
    expect(
      lines(stdout)
        .slice(1)
        .map((row) => row.split(/ {2,}/)[4]),
    ).toEqual(madeIds().slice(-2));
    expect(stderr).toBe('Only the newest 2 pushes: without --limit there are more.\n');
  });

  test('says where its beginning is no longer kept', async () => {
    const entries = entryModel(service.db).collection;
    const upsert = { matterType: 'TODO', externalId: 'H-3', title: 'kept' };
    const { requestId } = await service.push('upsert', upsert);
    await service.push('upsert', { ...upsert, title: 'kept on' });
    await entries.deleteOne({ _id: new (entryModel(service.db).base.Types.ObjectId)(requestId) });
    const { stdout, stderr } = await run('matter', 'history', 'TEST', 'H-3');
    expect(lines(stdout)).toHaveLength(2);
    expect(stderr).toMatch(/^Older pushes of this matter are no longer kept/);
    await entries.deleteMany({ externalId: 'H-3' });
    expect(await run('matter', 'history', 'TEST', 'H-3')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /no push of TEST\/H-3 is in the log any more; it changed last .* \(Asia\/Shanghai\)/,
      ),
    });
    expect((await run('matter', 'history', 'TEST', 'H-0')).stderr).toBe(
      'matterctl: there is no matter TEST/H-0, and no push of it in the log\n',
    );
  });
});

describe('log tail', () => {
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  /** Follows in a process of its own, as operators do. */
  const follow = (...args: string[]) => followAt(String(service.env.MONGO_URL), ...args);
  const followAt = (url: string, ...args: string[]) => {
    const started = spawn(process.execPath, [TOOL, 'log', 'tail', '--follow', ...args], {
      env: { MONGO_URL: url },
    });
    child = started;
    let stdout = '';
    let stderr = '';
    started.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    started.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const has = (text: string) => until(text, async () => stdout.includes(text));
    return { started, has, stdout: () => stdout, stderr: () => stderr };
  };
  const times = (text: string, part: string) => text.split(part).length - 1;

  test('prints the newest, the oldest of them first, in lines', async () => {
    const { exitCode, stdout } = await run('log', 'tail', '-n', '3', '--system-code', 'TEST');
    expect(exitCode).toBe(0);
    const newest = await views('log', 'query', '--system-code', 'TEST', '--limit', '3');
    const [head, ...rest] = lines(stdout);
    expect(head).toMatch(/^RECEIVED \(Asia\/Shanghai\) +REQUEST ID/);
    expect(rest.map((line) => line.split(/ {2,}/)[1])).toEqual(idsOf(newest).reverse());
    expect(idsOf(await views('log', 'tail', '-n', '3'))).toEqual(idsOf(newest).reverse());
    expect((await run('log', 'tail', '--follow', '--to', '1m')).exitCode).toBe(2);
  });

  test('--follow goes on with what is pushed, each once, until interrupted', async () => {
    const { started, has, stdout, stderr } = follow('-n', '1', '--client-id', service.clientId);
    const [newest] = await views('log', 'query', '--limit', '1');
    await has(String(newest?.requestId));
    const { requestId } = await service.push('upsert', {
      matterType: 'TODO',
      externalId: 'H-4',
      title: 'seen',
    });
    await has(requestId);
    const next = await service.push('delete', { externalId: 'H-4' });
    await has(next.requestId);
    started.kill('SIGINT');
    const [code] = await once(started, 'exit');
    expect({ code, stderr: stderr() }).toEqual({ code: 130, stderr: '' });
    // If a push waits for seconds, the command prints a line QUEUED before its final line.
    const told = lines(stdout()).filter((line) => !line.includes(' QUEUED '));
    expect(told.filter((line) => line.includes(requestId))).toHaveLength(1);
    expect(times(stdout(), 'RECEIVED')).toBe(1);
    expect(told).toHaveLength(4);
    expect(stdout()).toMatch(new RegExp(`${requestId}  upsert +- +CREATED +\\d+ ms +TEST/H-4\n`));
  });

  test('--follow tells a push that stays queued, and again when it is settled', async () => {
    const before = await service.push('delete', { externalId: 'H-5' });
    const { has, stdout } = follow('-n', '1', '--external-id', 'H-5', '--system-code', 'TEST');
    await has(before.requestId);
    const entries = entryModel(service.db).collection;
    const { Types } = entryModel(service.db).base;
    const requestId = createIdSource().ofRequest(Date.now());
    const _id = new Types.ObjectId(requestId);
    const receivedAt = new Date();
    const queued: LogEntry = {
      _id,
      clientId: service.clientId,
      systemCode: 'TEST',
      externalId: 'H-5',
      operation: 'upsert',
      bodyHash: 'x',
      bodySize: 1,
      receivedAt,
      deadlineAt: new Date(Date.now() + 3_600_000),
      state: 'QUEUED',
    };
    await entries.insertOne(queued);
    await has('QUEUED');
    await entries.updateOne(
      { _id },
      { $set: { state: 'PERSISTED', result: 'CREATED', settledAt: new Date() } },
    );
    await has('CREATED');
    expect(lines(stdout())).toHaveLength(4);
    await entries.deleteOne({ _id });
  });

  test('--follow waits for a database that is away, and loses nothing', async () => {
    const url = new URL(String(service.env.MONGO_URL));
    const proxy = await startProxy(Number(url.port), url.hostname);
    url.host = `127.0.0.1:${proxy.port}`;
    url.search = '?directConnection=true';
    const { has, stdout, stderr } = followAt(url.href, '-n', '1');
    const [newest] = await views('log', 'query', '--limit', '1');
    await has(String(newest?.requestId));
    proxy.close();
    await until('the note', async () => stderr().includes('The database is away'));
    const { requestId } = await service.push('delete', { externalId: 'H-1' });
    await proxy.open();
    await has(requestId);
    await until('the other note', async () => stderr().includes('The database is back.'));
    expect(lines(stderr())).toHaveLength(2);
    expect(lines(stdout())).toHaveLength(3);
    proxy.close();
  });
});
