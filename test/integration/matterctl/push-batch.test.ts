/** matterctl push in batches, against a service that sheds, drops, cuts answers and confirms in part. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { usePushRun } from '../../support/push-run';
import {
  drop,
  ok,
  type Received,
  type Reply,
  reject,
  useScriptedServer,
} from '../../support/scripted-server';

const server = useScriptedServer();
const run = usePushRun(server);
const { write, push, waits } = run;

const status = (id: string, n: number) => ({ op: 'status', body: { externalId: id, n } });
/** Of seven matters. */
const writeMany = (count: number) =>
  write(...Array.from({ length: count }, (_, n) => status(`K${n % 7}`, n)));
const sizes = () => server.batches.map(({ length }) => length);
const numberOf = ({ text }: Received) => Number(JSON.parse(text).n);
/** Of each of the seven matters, its lines as they came, each where it came first. */
const orders = () =>
  Array.from({ length: 7 }, (_, id) => [
    ...new Set(server.received.filter((one) => one.id === `K${id}`).map(numberOf)),
  ]);
const expectOrder = (count: number) => {
  for (const [id, order] of orders().entries()) {
    const all = Array.from({ length: count }, (_, n) => n).filter((n) => n % 7 === id);
    expect(order).toEqual(all);
  }
};
const BUSY = { 'Retry-After': '0' };
const shed = reject(503, 'BACKLOG_FULL', true, BUSY);

test('lines go in signed batches, in order per matter, each with its own key and outcome', async () => {
  await writeMany(1_000);
  const { exitCode, stdout } = await push('--batch', '100');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ lines: 1_000, ok: 1_000, retries: 0, finished: true });
  expect(server.received.every(({ isSigned }) => isSigned)).toBe(true);
  expect(Math.max(...sizes())).toBe(100);
  expect(sizes().length).toBeLessThan(20);
  expect(new Set(server.received.map(({ key }) => key)).size).toBe(1_000);
  expectOrder(1_000);
  expect(existsSync(`${run.file}.checkpoint`)).toBe(false);
});

test.each<[string, Reply]>([
  ['no answer', drop],
  [
    'a connection cut in the middle of the answer',
    (response) => {
      response.writeHead(200, { 'Content-Length': '9999' });
      response.write('{"code":0,"data":{"results":[', () => response.destroy());
    },
  ],
  ['a 503', shed],
  ['a gateway', (response) => void response.writeHead(504, BUSY).end('<html>')],
])('%s: every line is sent again with its key, none fails', async (_name, trouble) => {
  await writeMany(60);
  server.replyToBatch = (_, nth) => (nth === 2 ? trouble : undefined);
  const { exitCode, stdout } = await push('--batch', '20', '--retries', '0');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: 60, failed: 0, retries: 20 });
  const keys = new Map(server.batches.flat().map(({ text, key }) => [text, key]));
  expect(server.received.every(({ text, key }) => (keys.get(text) ?? key) === key)).toBe(true);
  expectOrder(60);
});

test('of a 207 what failed for good is in the failure file, what is retryable goes again before what follows', async () => {
  await write(
    ...[status('A', 1), status('B', 2), status('A', 3), '{oops', status('C', 4)],
    ...Array.from({ length: 30 }, (_, n) => status('A', 10 + n)),
  );
  server.reply = (line, nth) => {
    if (numberOf(line) === 2) return reject(400, 'UNKNOWN_USER', false);
    if (line.id !== 'A' || nth > 1) return ok;
    if (numberOf(line) === 1) return reject(503, 'DATABASE_UNAVAILABLE', true, BUSY);
    return numberOf(line) < 12 ? reject(503, 'SKIPPED_AFTER_FAILURE', true, BUSY) : ok;
  };
  const { stdout } = await push('--batch', '6', '--concurrency', '2', '--retries', '0');
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ lines: 35, ok: 33, failures: { UNKNOWN_USER: 1, MALFORMED_LINE: 1 } },
  });
  const last = new Map<number, number>();
  for (const [at, line] of server.received.entries()) last.set(numberOf(line), at);
  const settled = [1, 3, ...Array.from({ length: 30 }, (_, n) => 10 + n)];
  const places = settled.map((n) => Number(last.get(n)));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  const failed = readFileSync(`${run.file}.failed.ndjson`, 'utf8').trimEnd().split('\n');
  expect(failed.map((line) => JSON.parse(line).line).sort()).toEqual([2, 4]);
});

test('a service that sheds gets smaller batches, and larger ones again when it has room', async () => {
  await writeMany(3_000);
  let isFull = true;
  const most = { full: 0, after: 0 };
  server.replyToBatch = (lines) => {
    if (server.received.length > 300) isFull = false;
    if (isFull && lines.length > 30) return shed;
    most[isFull ? 'full' : 'after'] = Math.max(most[isFull ? 'full' : 'after'], lines.length);
    return undefined;
  };
  const { exitCode, stdout } = await push('--batch', '200');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: 3_000, failed: 0 });
  expect(most.full).toBeLessThanOrEqual(30);
  expect(most.after).toBe(200);
  expectOrder(3_000);
});

test('while it runs it tells how far it is, how fast it goes and how long it still takes', async () => {
  await writeMany(60);
  server.reply = async () => {
    await sleep(150);
    return ok;
  };
  const { stderr } = await push('--batch', '2', '--concurrency', '1');
  expect(stderr).toMatch(/^\d+\/60 lines, \d+\/s, .*\b\d+ s left$/m);
});

test('an outage costs no line its tries, and is told once', async () => {
  await writeMany(300);
  server.replyToBatch = () =>
    server.batches.length < 6 ? reject(503, 'DATABASE_UNAVAILABLE', true, BUSY) : undefined;
  const { exitCode, stdout, stderr } = await push('--batch', '50', '--retries', '0');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: 300, failed: 0 });
  expect(waits(stderr)[0]).toContain('DATABASE_UNAVAILABLE');
  expectOrder(300);
});

describe('one line spoils no other', () => {
  const isBad = (line: Received) => numberOf(line) === 33;

  test.each<[string, Reply, string]>([
    ['breaks every connection', drop, 'ECONNRESET'],
    ['is too large', reject(413, 'BODY_TOO_LARGE', false), 'BODY_TOO_LARGE'],
  ])('that %s: it is found, and fails alone', async (_name, trouble, reason) => {
    await writeMany(80);
    server.replyToBatch = (lines) => (lines.some(isBad) ? trouble : undefined);
    server.reply = (line) => (isBad(line) ? trouble : ok);
    const { stdout } = await push('--batch', '16', '--retries', '1');
    expect(JSON.parse(stdout)).toMatchObject({
      ok: 79,
      failures: { [reason]: 1 },
      finished: true,
    });
    expect(orders().map((order) => order.length)).toEqual([12, 12, 12, 11, 11, 11, 11]);
  });
});

test.each<[string, Reply, string]>([
  ['a page', (response) => void response.writeHead(403).end('<html>blocked'), 'status 403, <html>'],
  [
    'JSON of a gateway',
    (response) => void response.writeHead(400).end('{"code":400,"msg":"blocked"}'),
    'status 400, {"code":400',
  ],
])(
  '%s for one line of a batch ends the run: the line is found, and does not fail',
  async (_name, trouble, message) => {
    const isBad = (line: Received) => numberOf(line) === 33;
    await writeMany(80);
    server.replyToBatch = (lines) => (lines.some(isBad) ? trouble : undefined);
    server.reply = (line) => (isBad(line) ? trouble : ok);
    const { exitCode, stdout, stderr } = await push('--batch', '16', '--retries', '1');
    expect(exitCode).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).toContain('or does a gateway reject line 34?');
    expect(JSON.parse(stdout)).toMatchObject({ failed: 0, finished: false });
  },
);

test.each([
  ['a wrong secret', reject(401, 'SIGNATURE_MISMATCH', false), '401 SIGNATURE_MISMATCH'],
  ['a wrong address', reject(404, 'PATH_NOT_FOUND', false), '404 PATH_NOT_FOUND'],
])('%s ends the run at once', async (_name, rejection, message) => {
  server.replyToBatch = () => rejection;
  server.reply = () => rejection;
  await writeMany(2_000);
  const { exitCode, stdout, stderr } = await push();
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`rejects every push: ${message}`);
  expect(JSON.parse(stdout)).toMatchObject({ failed: 0, finished: false });
  expect(server.batches.length + server.received.length).toBeLessThanOrEqual(20);
});

test('a service of an older version, which takes no batches, gets every line alone', async () => {
  await writeMany(100);
  server.replyToBatch = () => reject(404, 'PATH_NOT_FOUND', false);
  const { stdout } = await push();
  expect(JSON.parse(stdout)).toMatchObject({ ok: 100, failed: 0 });
  expect(server.received).toHaveLength(100);
  expectOrder(100);
});

test('and one that takes no batches when it comes back after an outage, too', async () => {
  await writeMany(100);
  server.replyToBatch = (_, nth) => (nth < 4 ? shed : reject(404, 'PATH_NOT_FOUND', false));
  const { stdout } = await push('--batch', '50');
  expect(JSON.parse(stdout)).toMatchObject({ ok: 100, failed: 0, finished: true });
  expectOrder(100);
});

test('lines that a batch is to send again wait as long as its answer says', async () => {
  await writeMany(20);
  const full = reject(503, 'PARTITION_FULL', true, { 'Retry-After': '1' });
  server.reply = ({ id }, nth) => (id === 'K3' && nth === 1 ? full : ok);
  const { stdout } = await push();
  expect(JSON.parse(stdout)).toMatchObject({ ok: 20, failed: 0 });
  const { key } = server.received.find(({ id }) => id === 'K3') ?? {};
  const [first, second] = server.received.filter((one) => one.key === key);
  expect(Number(second?.at) - Number(first?.at)).toBeGreaterThanOrEqual(1_000);
});

test('a 429 slows the run down, and costs no line anything', async () => {
  await writeMany(60);
  const limited = reject(429, 'RATE_LIMITED', true, {
    ...{ 'Retry-After': '1', 'RateLimit-Policy': '"client";q=400;w=2' },
  });
  server.replyToBatch = (_, nth) => (nth === 1 ? limited : undefined);
  const { exitCode, stderr } = await push('--batch', '20', '--retries', '0');
  expect(exitCode).toBe(0);
  expect(stderr).toContain(
    'Slowed down: the client erp has used up its rate of 200 pushes a second',
  );
  expectOrder(60);
});

test('Ctrl-C in the middle of batches: the next run goes on, and every line is applied once', async () => {
  await write(...Array.from({ length: 900 }, (_, n) => status(`K${n % 7}`, n)), '{oops');
  server.reply = async () => {
    if (server.received.length === 200) process.emit('SIGINT', 'SIGINT');
    return ok;
  };
  const first = await push('--batch', '50');
  expect(first.exitCode).toBe(130);
  const sentFirst = server.received.length;
  expect(JSON.parse(first.stdout)).toMatchObject({ ok: sentFirst, finished: false });
  expect(sentFirst).toBeLessThan(900);
  const second = await push('--batch', '50');
  expect(second.stderr).toMatch(/^Resuming: \d+ lines are done/);
  expect(JSON.parse(second.stdout)).toMatchObject({ lines: 901, ok: 900, failed: 1 });
  expect(server.received).toHaveLength(900);
  expectOrder(900);
});

test('a run that is cut off in the middle of a batch sends its lines again, with the same keys', async () => {
  await writeMany(90);
  server.replyToBatch = (_, nth) => {
    if (nth < 2) return undefined;
    setImmediate(() => {
      process.emit('SIGINT', 'SIGINT');
      process.emit('SIGINT', 'SIGINT');
    });
    return () => {};
  };
  const first = await push('--batch', '30', '--concurrency', '1');
  expect(first.exitCode).toBe(130);
  expect(JSON.parse(first.stdout)).toMatchObject({ ok: 30, failed: 0, finished: false });
  const cut = server.batches[1]?.map(({ text, key }) => [text, key]);
  server.replyToBatch = () => undefined;
  expect(JSON.parse((await push('--batch', '30')).stdout)).toMatchObject({ lines: 90, ok: 90 });
  expect(server.received.map(({ text, key }) => [text, key])).toEqual(
    expect.arrayContaining(cut ?? []),
  );
  expectOrder(90);
});

test('a key that stands twice is sent in two batches', async () => {
  await write({ ...status('A', 1), key: 'k' }, status('B', 2), { ...status('A', 1), key: 'k' });
  expect(JSON.parse((await push()).stdout)).toMatchObject({ ok: 3 });
  expect(
    server.batches.every((lines) => new Set(lines.map(({ key }) => key)).size === lines.length),
  ).toBe(true);
});
