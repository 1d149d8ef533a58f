/**
 * matterctl push at an address where something other than the service answers: the run ends at once, names the
 * address, and no line fails. A gateway in front of the service may still reject single lines.
 */
import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { matterctl } from '../../support/cli-tool';
import { usePushRun } from '../../support/push-run';
import { ok, type Reply, reject, useScriptedServer } from '../../support/scripted-server';

const server = useScriptedServer();
const run = usePushRun(server);
const { push } = run;

const writeMany = (count: number) =>
  run.write(
    ...Array.from({ length: count }, (_, n) => ({
      op: 'status',
      body: { externalId: `K${n}`, n },
    })),
  );
/** A command that asks the service at the same address. */
const ask = (...command: string[]) =>
  matterctl([
    ...command,
    ...['--client-id', 'erp', '--secret-file', run.secretFile, '--url', server.url],
  ]);
const isQuery = (path: string) => path.endsWith('/clients/me');

const page = (status: number) => (response: ServerResponse) =>
  void response.writeHead(status, { 'Content-Type': 'text/html' }).end('<html>Sign in</html>');
const json = (body: object) => (response: ServerResponse) =>
  void response.writeHead(200).end(JSON.stringify(body));
const redirect = (response: ServerResponse) =>
  void response.writeHead(301, { Location: 'https://portal.example.com/api' }).end();
const EMPTY_SUCCESS = { code: 0, requestId: 'r1', timestamp: '2026-01-01T00:00:00Z', data: {} };

describe.each([['200'], ['1']])(
  'with --batch %s the run ends at once, and no line fails, at',
  (batch) => {
    test.each<[string, Reply, string]>([
      ['a redirect', redirect, 'status 301, redirect to https://portal.example.com/api'],
      ['a page', page(200), 'status 200, <html>Sign in'],
      ['a page that forbids', page(403), 'status 403, <html>Sign in'],
      ['a page that asks to sign in', page(401), 'status 401'],
      ['a page of a bad request', page(400), 'status 400'],
      [
        'JSON of another service',
        json({ code: 401, msg: 'token missing' }),
        'status 200, {"code":401',
      ],
      ['a success without an outcome', json(EMPTY_SUCCESS), 'status 200, {"code":0'],
      ['an error page', page(500), 'status 500'],
    ])('%s', async (_name, answer, message) => {
      await writeMany(500);
      server.reply = () => answer;
      server.replyToBatch = () => answer;
      const { exitCode, stdout, stderr } = await push('--batch', batch, '--retries', '1');
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`the answer of ${server.url}/api/open/`);
      expect(stderr).toContain(message);
      expect(JSON.parse(stdout)).toMatchObject({ failed: 0, finished: false });
      expect(existsSync(`${run.file}.failed.ndjson`)).toBe(false);
      // As many as were under way together, and the questions whether the service answers there.
      expect(server.batches.length + server.received.length).toBeLessThanOrEqual(64);
    });
  },
);

test('a gateway that lets GET pass and answers POST itself, in the middle of a run, fails no line', async () => {
  await writeMany(300);
  let isBlocked = false;
  server.reply = () => (isBlocked ? page(403) : ok);
  server.replyToBatch = (_, nth) => {
    isBlocked ||= nth > 3;
    return isBlocked ? page(403) : undefined;
  };
  const { exitCode, stdout, stderr } = await push('--batch', '20', '--concurrency', '2');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('status 403');
  expect(JSON.parse(stdout)).toMatchObject({ ok: 60, failed: 0, finished: false });
});

test('a redirect in the middle of a run ends it too; the same command goes on later', async () => {
  await writeMany(100);
  server.replyToBatch = (_, nth) => (nth > 2 ? redirect : undefined);
  const first = await push('--batch', '20', '--concurrency', '1');
  expect(first.exitCode).toBe(1);
  expect(JSON.parse(first.stdout)).toMatchObject({ ok: 40, failed: 0, finished: false });
  server.replyToBatch = () => undefined;
  expect(JSON.parse((await push()).stdout)).toMatchObject({ lines: 100, ok: 100, failed: 0 });
});

test('what passes questions and rejects every push is met with a bounded number of requests', async () => {
  await writeMany(2_000);
  server.reply = ({ path }) => (isQuery(path) ? ok : page(403));
  server.replyToBatch = () => page(403);
  const { stdout } = await push();
  expect(JSON.parse(stdout)).toMatchObject({ failed: 0, finished: false });
  expect(server.batches.length + server.received.length).toBeLessThanOrEqual(150);
});

test('of a batch that is confirmed without a matterId every line is sent again', async () => {
  await writeMany(4);
  const unconfirmed: Reply = (response) =>
    void response
      .writeHead(200)
      .end(JSON.stringify({ ...EMPTY_SUCCESS, data: { externalId: 'A', outcome: 'UPDATED' } }));
  server.reply = (_, nth) => (nth === 1 ? unconfirmed : ok);
  const { stdout } = await push();
  expect(JSON.parse(stdout)).toMatchObject({ ok: 4, retryReasons: { NO_RESULT: 4 } });
});

test('commands that ask the service name what answers instead', async () => {
  server.reply = () => redirect;
  const { exitCode, stderr } = await ask('log', 'query');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('status 301, redirect to https://portal.example.com/api');
  expect(stderr).not.toContain('rejects what erp asks');
  expect(server.received.length).toBeLessThanOrEqual(1);
});

test('a question that is confirmed without its data is no answer', async () => {
  server.reply = () => json(EMPTY_SUCCESS);
  const { exitCode, stderr } = await ask('log', 'query');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('is not one of Matter Push: status 200');
});

test('doctor names where a redirect leads', async () => {
  server.reply = () => redirect;
  const { exitCode, stdout } = await ask('doctor');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('with status 301 and a redirect to https://portal.example.com/api');
});

test('a rejection of the service is still that of its line', async () => {
  await writeMany(3);
  server.reply = ({ id }) => (id === 'K1' ? reject(400, 'UNKNOWN_USER', false) : ok);
  const { stdout } = await push();
  expect(JSON.parse(stdout)).toMatchObject({ ok: 2, failures: { UNKNOWN_USER: 1 } });
});
