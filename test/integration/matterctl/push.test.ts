/** matterctl push against a service that limits, fails, drops and loses answers. */
import { existsSync, readFileSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { matterctl } from '../../support/cli-tool';
import { usePushRun } from '../../support/push-run';
import {
  answer,
  drop,
  ok,
  type Reply,
  reject,
  useScriptedServer,
} from '../../support/scripted-server';

const server = useScriptedServer();
const run = usePushRun(server, '--batch', '1');
const { write, push } = run;

const status = (id: string, n = 0) => ({ op: 'status', body: { externalId: id, n } });
const failures = () =>
  readFileSync(`${run.file}.failed.ndjson`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('every push is signed over the bytes that were sent, on its own path, with its own key', async () => {
  await write({ op: 'upsert', body: { externalId: 'A', title: '报销单 😀' } }, '', {
    ...status('A'),
    key: 'mine',
  });
  const { exitCode, stdout } = await push();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    lines: 2,
    ok: 2,
    outcomes: { UPDATED: 2 },
    finished: true,
  });
  expect(server.received.map(({ isSigned }) => isSigned)).toEqual([true, true]);
  expect(server.received.map(({ path }) => path)).toEqual([
    '/api/open/matters/upsert',
    '/api/open/matters/status',
  ]);
  expect(server.received[0]?.text).toBe('{"externalId":"A","title":"报销单 😀"}');
  expect(server.received[0]?.key).toMatch(/^[\w-]{12}-1$/);
  expect(server.received[1]?.key).toBe('mine');
  expect(existsSync(`${run.file}.checkpoint`)).toBe(false);
  expect(existsSync(`${run.file}.failed.ndjson`)).toBe(false);
});

test('what is retryable is tried again with the same key, and the lines behind it wait', async () => {
  const troubles: Reply[] = [
    reject(503, 'DATABASE_UNAVAILABLE', true, { 'Retry-After': '0' }),
    drop,
    reject(504, 'CONFIRMATION_TIMEOUT', true),
    (response) => void response.writeHead(502).end('<html>bad gateway</html>'),
  ];
  const settled: string[] = [];
  server.reply = ({ text }, nth) => {
    const trouble = text.includes('"n":1') ? troubles[nth - 1] : undefined;
    if (!trouble) settled.push(text);
    return trouble ?? ok;
  };
  await write(status('A', 1), status('A', 2), status('B', 3), status('A', 4));
  const { stdout } = await push();
  expect(JSON.parse(stdout)).toMatchObject({ ok: 4, failed: 0, retries: 4 });
  expect(settled.filter((text) => text.includes('"A"'))).toEqual(
    [1, 2, 4].map((n) => JSON.stringify(status('A', n).body)),
  );
  expect(server.received.every(({ isSigned }) => isSigned)).toBe(true);
});

test('a 429 slows the whole client down, and costs no retries', async () => {
  let limitedAt = 0;
  const during: number[] = [];
  server.reply = ({ id }, nth) => {
    if (limitedAt > 0) during.push(Date.now() - limitedAt);
    if (id !== 'K2' || nth > 1) return ok;
    limitedAt = Date.now();
    return reject(429, 'RATE_LIMITED', true, { 'Retry-After': '1' });
  };
  await write(...Array.from({ length: 40 }, (_, index) => status(`K${index}`)));
  const { stdout } = await push('--concurrency', '4', '--retries', '0');
  expect(JSON.parse(stdout)).toMatchObject({ ok: 40, failed: 0, retries: 1 });
  // Those that were under way, and those sent before it was heard of, may still have come; most waited.
  expect(during.filter((after) => after < 950).length).toBeLessThan(10);
});

test('an answer that got lost is asked for again, not applied again', async () => {
  const applied: string[] = [];
  server.reply = ({ key }, nth) => {
    if (nth === 1) applied.push(String(key));
    if (nth === 1) return drop;
    return (response) =>
      answer(
        response,
        200,
        { code: 0, data: { outcome: 'CREATED', matterId: '7' } },
        { 'Idempotency-Replayed': 'true' },
      );
  };
  await write(status('A'));
  const { stdout } = await push();
  expect(JSON.parse(stdout)).toMatchObject({ outcomes: { CREATED: 1 }, replayed: 1, retries: 1 });
  expect(applied).toHaveLength(1);
});

test('what fails for good is reported, does not stop the rest, and can be pushed again', async () => {
  server.reply = ({ text }) => (text.includes('"n":1') ? reject(400, 'UNKNOWN_USER', false) : ok);
  await write(status('A', 1), status('A', 2), { op: 'merge', body: {} }, '{oops', status('B', 3));
  const first = await push();
  expect(first.exitCode).toBe(1);
  expect(first.stderr).toContain('3 lines failed: correct');
  expect(JSON.parse(first.stdout)).toMatchObject({
    lines: 5,
    ok: 2,
    failures: { UNKNOWN_USER: 1, UNKNOWN_OPERATION: 1, MALFORMED_LINE: 1 },
    afterFailure: 1,
  });
  const byLine = failures().sort((a, b) => a.line - b.line);
  expect(byLine).toEqual([
    expect.objectContaining({
      ...status('A', 1),
      line: 1,
      code: 400,
      reason: 'UNKNOWN_USER',
      requestId: 'r1',
    }),
    expect.objectContaining({ op: 'merge', line: 3, reason: 'UNKNOWN_OPERATION' }),
    expect.objectContaining({ text: '{oops', line: 4, reason: 'MALFORMED_LINE' }),
  ]);

  server.reply = () => ok;
  const keyBefore = server.received.find(({ text }) => text.includes('"n":1'))?.key;
  const source = run.file;
  run.file = `${source}.failed.ndjson`;
  const mended = readFileSync(run.file, 'utf8').replace(
    '{oops',
    '{\\"op\\":\\"reopen\\",\\"body\\":{}}',
  );
  await writeFile(run.file, mended);
  const second = JSON.parse((await push()).stdout);
  expect(second).toMatchObject({ ok: 2, failed: 1 });
  expect(second.failuresFile).toBe(`${source}.failed.2.ndjson`);
  expect(server.received.slice(-2)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ key: keyBefore }),
      expect.objectContaining({ path: '/api/open/matters/reopen', text: '{}' }),
    ]),
  );
});

describe('a second run on the same file', () => {
  const lock = () => `${run.file}.checkpoint.lock`;

  test('is told which process has it, and since when; the first goes on', async () => {
    await write(status('A'), status('B'));
    let second: Awaited<ReturnType<typeof push>> | undefined;
    server.reply = async () => {
      second ??= await push();
      return ok;
    };
    const first = await push('--concurrency', '1');
    expect(JSON.parse(first.stdout)).toMatchObject({ ok: 2 });
    expect(second?.exitCode).toBe(1);
    expect(second?.stderr).toMatch(
      new RegExp(
        `process ${process.pid} has been pushing this file since [-\\d]{10} [.:\\d]+ \\(Asia/Shanghai\\): `,
      ),
    );
    expect(existsSync(lock())).toBe(false);
  });

  test.each([
    ['a process that is gone', { pid: 2 ** 22 + 1, started: '1', host: hostname() }],
    ['another process of the same number', { pid: process.pid, started: '1', host: hostname() }],
    ['nobody: the file was half written', undefined],
  ])('takes over the lock of %s', async (_name, holder) => {
    await write(status('A'));
    const since = new Date().toISOString();
    await writeFile(lock(), holder ? JSON.stringify({ ...holder, since, run: 'r' }) : '{"pid"');
    expect(JSON.parse((await push()).stdout)).toMatchObject({ ok: 1 });
    expect(existsSync(lock())).toBe(false);
  });

  test('of another host has the file as long as it shows that it lives', async () => {
    await write(status('A'));
    const holder = {
      pid: 1,
      started: '1',
      host: 'elsewhere',
      since: new Date().toISOString(),
      run: 'r',
    };
    await writeFile(lock(), JSON.stringify(holder));
    expect((await push()).stderr).toContain('process 1 on elsewhere has been pushing');
    const long = new Date(Date.now() - 120_000);
    await utimes(lock(), long, long);
    expect(JSON.parse((await push()).stdout)).toMatchObject({ ok: 1 });
  });
});

test('lines that were accepted with warnings are counted, by kind and field', async () => {
  const warnings = [
    { field: 'partys', kind: 'UNKNOWN_FIELD', message: 'unknown', suggestion: 'parties' },
    { field: 'parties[0].x', kind: 'UNKNOWN_FIELD', message: 'unknown' },
    { field: 'parties[1].x', kind: 'UNKNOWN_FIELD', message: 'unknown' },
  ];
  const warned: Reply = (response) =>
    answer(response, 200, { code: 0, data: { outcome: 'UPDATED', matterId: '7', warnings } });
  server.reply = ({ id }) => (id === 'C' ? ok : warned);
  await write(status('A'), status('B'), status('C'));
  expect(JSON.parse((await push('--restart')).stdout)).toMatchObject({
    ok: 3,
    warned: 2,
    warnings: { 'UNKNOWN_FIELD partys (parties?)': 2, 'UNKNOWN_FIELD parties[].x': 2 },
  });
});

test('a line that stays without an answer is given up after its retries', async () => {
  server.reply = ({ id }) => (id === 'A' ? drop : ok);
  await write(status('B'), status('A'));
  const { exitCode, stdout } = await push('--retries', '2', '--concurrency', '1');
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ ok: 1, failures: { ECONNRESET: 1 }, retries: 2, retryReasons: { ECONNRESET: 2 } },
  });
});

test.each([
  [
    'a wrong secret',
    reject(401, 'SIGNATURE_MISMATCH', false),
    'rejects every push: 401 SIGNATURE_MISMATCH no (requestId r1): matterctl doctor',
  ],
  ['a wrong address', reject(404, 'PATH_NOT_FOUND', false), 'rejects every push: 404 PATH_NOT'],
])('%s ends the run at once instead of failing every line', async (_name, rejection, message) => {
  server.reply = () => rejection;
  await write(...Array.from({ length: 500 }, (_, index) => status(`K${index}`)));
  const { exitCode, stderr, stdout } = await push('--concurrency', '4');
  expect(exitCode).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr).toContain('the same command goes on from here');
  expect(JSON.parse(stdout)).toMatchObject({ failed: 0, finished: false });
  expect(server.received.length).toBeLessThanOrEqual(4);
});

test('nobody listening ends the run with a clear error', async () => {
  await write(status('A'));
  const { exitCode, stderr } = await push('--retries', '1', '--url', 'http://127.0.0.1:1');
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/the service at \S+:1 cannot be reached \(.*ECONNREFUSED/);
});

test('Ctrl-C waits for what is under way; the next run goes on with the same run id, every line once', async () => {
  await write(...Array.from({ length: 60 }, (_, index) => status(`K${index % 7}`, index)), {
    op: 'merge',
    body: {},
  });
  server.reply = async () => {
    if (server.received.length === 20) process.emit('SIGINT', 'SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 5));
    return ok;
  };
  const first = await push('--concurrency', '3');
  expect(first.exitCode).toBe(130);
  expect(first.stderr).toContain('interrupted; the same command goes on from here');
  const sentFirst = server.received.length;
  expect(JSON.parse(first.stdout)).toMatchObject({ ok: sentFirst, finished: false });
  expect(sentFirst).toBeLessThan(30);

  const second = await push();
  expect(second.stderr).toMatch(/^Resuming: \d+ lines are done, up to line \d+/);
  const summary = JSON.parse(second.stdout);
  expect(summary).toMatchObject({ lines: 61, ok: 60, failed: 1, finished: true });
  expect(summary.resumed).toBeGreaterThanOrEqual(sentFirst);
  expect(new Set(server.received.map(({ text }) => text)).size).toBe(60);
  expect(server.received).toHaveLength(60);
  expect(new Set(server.received.map(({ key }) => key?.replace(/-\d+$/, ''))).size).toBe(1);
  expect(failures()).toHaveLength(1);
  for (let id = 0; id < 7; id += 1) {
    const order = server.received
      .filter((one) => one.id === `K${id}`)
      .map(({ text }) => JSON.parse(text).n);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  }
});

test('a checkpoint of another input is not used, unless told to start over', async () => {
  await write(status('A'), status('B'));
  server.reply = () => {
    process.emit('SIGINT', 'SIGINT');
    return ok;
  };
  await push('--concurrency', '1');
  await write(status('A'), status('C'));
  server.reply = () => ok;
  const rejected = await push();
  expect(rejected.exitCode).toBe(1);
  expect(rejected.stderr).toContain('the input file has changed; --restart ignores it');
  expect(server.received).toHaveLength(1);
  expect(JSON.parse((await push('--restart')).stdout)).toMatchObject({ ok: 2, resumed: 0 });
});

test('standard input is pushed too, and a person gets a table', async () => {
  const failed = join(run.folder, 'failed');
  const args = [
    'push',
    '-',
    '--client-id',
    'erp',
    '--secret-file',
    run.secretFile,
    '--url',
    `${server.url}/`,
  ];
  const { exitCode, stdout } = await matterctl([...args, '--batch', '1', '--failures', failed], {
    stdin: `${JSON.stringify(status('A'))}\n${JSON.stringify({ op: 'upsert', body: {} })}`,
  });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^2 lines, in \d+\.\d s/);
  expect(stdout).toMatch(/UPDATED +2/);
});

test.each([
  [['--concurrency', '0'], 'must be a whole number from 1 to 1000'],
  [['--url', 'ftp://x'], 'must be an address like'],
  [['--failures', 'in.ndjson'], 'must be four files'],
  [['--client-id', '系统'], 'must be printable ASCII'],
  [['--conurrency', '3'], 'Did you mean --concurrency'],
])('%j is wrong usage', async (more, message) => {
  await write(status('A'));
  const args = more.map((arg) => (arg === 'in.ndjson' ? run.file : arg));
  const { exitCode, stderr } = await push(...args);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});
