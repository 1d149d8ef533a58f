/** matterctl push where the service stands still: no line fails for it, and the run says why it waits. */
import { existsSync, readFileSync } from 'node:fs';
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
const run = usePushRun(server, '--batch', '1');
const { push, waits } = run;

const write = (count: number) =>
  run.write(
    ...Array.from({ length: count }, (_, n) => ({ op: 'status', body: { externalId: `K${n}` } })),
  );
/** Rejects until so many requests came, as one server does that is away for all. */
const untilNth =
  (nth: number, rejection: Reply) =>
  (_: Received): Reply =>
    server.received.length < nth ? rejection : ok;

const BUSY = { 'Retry-After': '0' };
const LATER = { 'Retry-After': '3' };

test('an outage for all costs no line its tries: one tries now and then, and all go on', async () => {
  await write(40);
  server.reply = untilNth(12, reject(503, 'DATABASE_UNAVAILABLE', true, BUSY));
  const { exitCode, stdout, stderr } = await push('--retries', '0', '--concurrency', '8');
  expect(exitCode).toBe(0);
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({ ok: 40, failed: 0, retries: 11 });
  expect(summary.retryReasons).toEqual({ DATABASE_UNAVAILABLE: 11 });
  expect(waits(stderr)[0]).toMatch(
    /^Waiting.*: the service's database \(MongoDB\) does not answer, or rejects writes \(503 DATABASE_UNAVAILABLE\)\. Trying again in \d+ s\.$/,
  );
  // Eight were under way together, though the last of them may arrive late. Then one at a time: the lowest.
  const ids = server.received.slice(0, 12).map(({ id }) => id);
  const again = ids.filter((id, nth) => ids.indexOf(id) !== nth);
  expect(again).toEqual(Array(4).fill('K0'));
});

test('the run stands still while nothing goes through: no progress and no time left is told', async () => {
  await write(6);
  server.reply = untilNth(4, reject(503, 'QUEUE_UNAVAILABLE', true, LATER));
  const { stderr, stdout } = await push('--concurrency', '2');
  expect(JSON.parse(stdout)).toMatchObject({ ok: 6, failed: 0 });
  // With the first line that goes through, progress may be told again.
  expect(stderr).not.toMatch(/^0\/6 lines,/m);
  expect(waits(stderr)[0]).toContain('QUEUE_UNAVAILABLE');
});

test.each<[string, Reply, string]>([
  [
    'a pause',
    reject(503, 'CLIENT_PAUSED', true, LATER),
    'an operator has paused the client erp (no); matterctl queue resume erp ends it',
  ],
  [
    'a gateway',
    (response) => void response.writeHead(502, LATER).end('<html>'),
    'something before the service answers 502',
  ],
])('it says that it waits for %s, in one sentence', async (_name, rejection, sentence) => {
  await write(12);
  server.reply = untilNth(5, rejection);
  const { exitCode, stderr } = await push('--concurrency', '4');
  expect(exitCode).toBe(0);
  expect(waits(stderr)[0]).toContain(`: ${sentence}`);
});

test('a rate is named with what it is and how it is raised, and slows down alone', async () => {
  await write(8);
  const limited = reject(429, 'RATE_LIMITED', true, {
    'Retry-After': '1',
    'RateLimit-Policy': '"client";q=400;w=2',
  });
  server.reply = (_, nth) => (nth <= 2 ? limited : ok);
  const { exitCode, stdout, stderr } = await push('--concurrency', '2', '--retries', '0');
  expect(exitCode).toBe(0);
  const { retries, retryReasons } = JSON.parse(stdout);
  expect(retryReasons).toEqual({ RATE_LIMITED: retries });
  const told = stderr.split('\n').filter((line) => line.includes('rate'));
  expect(told).toEqual([
    'Slowed down: the client erp has used up its rate of 200 pushes a second; an operator raises it with: matterctl client limit erp --rate <pushes a second>.',
  ]);
});

test('a service that is down breaks connections: no line fails, and all go on', async () => {
  await write(20);
  server.isReady = false;
  server.reply = ({ id }) => {
    if (server.received.length > 7) server.isReady = true;
    return server.isReady || id === 'K0' ? ok : drop;
  };
  const { stdout } = await push('--retries', '2', '--concurrency', '4');
  expect(JSON.parse(stdout)).toMatchObject({ ok: 20, failed: 0, failures: {} });
});

test('a wait has an end: the run ends then, no line has failed, and the next run goes on', async () => {
  await write(20);
  server.reply = () => reject(503, 'CLIENT_PAUSED', true, BUSY);
  const first = await push('--max-wait', '1s');
  expect(first.exitCode).toBe(1);
  expect(first.stderr).toMatch(
    /(?:^|\n)matterctl: given up after \d+ s: an operator has paused the client erp .*; the same command goes on from here\n$/,
  );
  expect(existsSync(`${run.file}.failed.ndjson`)).toBe(false);
  expect(JSON.parse(readFileSync(`${run.file}.checkpoint`, 'utf8'))).toMatchObject({
    doneThrough: 0,
  });
  server.reply = () => ok;
  expect(JSON.parse((await push()).stdout)).toMatchObject({ lines: 20, ok: 20, failed: 0 });
});

test('Ctrl-C ends a wait at once', async () => {
  await write(5);
  server.reply = () => {
    setImmediate(() => process.emit('SIGINT', 'SIGINT'));
    return reject(503, 'DATABASE_UNAVAILABLE', true, { 'Retry-After': '300' });
  };
  const { exitCode, stdout } = await push('--concurrency', '1');
  expect(exitCode).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ lines: 0, failed: 0, finished: false });
});

describe('an error of a line is the line’s error', () => {
  test('but not where a gateway rejects one for its contents: the run ends, and names the line', async () => {
    await write(6);
    server.reply = ({ id }) =>
      id === 'K0' ? (response) => void response.writeHead(403).end('<html>blocked</html>') : ok;
    const { exitCode, stdout, stderr } = await push('--concurrency', '1');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('status 403, <html>blocked');
    expect(stderr).toContain('or does a gateway reject line 1?');
    expect(JSON.parse(stdout)).toMatchObject({ failed: 0, finished: false });
  });

  test('and something that is no Matter Push at all ends the run, before any line has failed', async () => {
    await write(6);
    const page: Reply = (response) => void response.writeHead(404).end('<html>nothing</html>');
    server.isReady = false;
    server.reply = () => page;
    const { exitCode, stdout, stderr } = await push();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`the answer of ${server.url}/api/open/matters/status is not one of`);
    expect(stderr).toContain('status 404, <html>nothing');
    expect(JSON.parse(stdout)).toMatchObject({ failed: 0, finished: false });
  });
});
