/** What comes behind a rejected head is bounded in what it makes the process do and keep. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpServer, listen } from '../../../src/http/server';
import { connectRaw, type RawCaller } from '../../support/raw-http';
import { until } from '../../support/wait';

const GOOD = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';
const TWO_READINGS = 'GET / HTTP/1.1\r\n\r\n';
const MALFORMED = { code: 400, reason: 'MALFORMED_REQUEST', data: null };
const MIB = 1024 * 1024;

let server: HttpServer;
/** Sockets of the requests that Node made of what came, whoever gets to see them. */
const parsed: Socket[] = [];
const handled: ServerResponse[] = [];
const onRequest = (message: unknown) => {
  parsed.push((message as { socket: Socket }).socket);
};
const handler = (_req: IncomingMessage, res: ServerResponse) => void handled.push(res);

beforeAll(async () => {
  subscribe('http.server.request.start', onRequest);
  server = await listen(handler, { host: '127.0.0.1', port: 0 });
});
afterAll(() => {
  unsubscribe('http.server.request.start', onRequest);
  return server.close();
});
beforeEach(() => {
  parsed.length = 0;
  handled.length = 0;
});

/** Sends requests as fast as they are taken, until so many bytes are sent or nobody takes any more. */
async function flood({ socket }: RawCaller, bytes: number): Promise<void> {
  const many = Buffer.from(GOOD.repeat(2_000));
  const isSent = () => new Promise((resolve) => socket.write(many, (error) => resolve(!error)));
  for (let sent = 0; sent < bytes; sent += many.length) {
    if (!(await isSent())) return;
  }
}

/** Until what was sent waits, since nobody takes it. */
function untilStuck({ socket }: RawCaller): Promise<unknown> {
  let before = -1;
  return until('the sender to be stuck', async () => {
    const waiting = socket.writableLength;
    const isStuck = waiting > 0 && socket.bytesWritten === before;
    before = socket.bytesWritten;
    return isStuck;
  });
}

test('no request is made of it, and no more than a mebibyte is read', async () => {
  const caller = await connectRaw(server.url);
  caller.send(TWO_READINGS);
  const [answer] = await caller.untilAnswers(1);
  expect(answer?.envelope()).toMatchObject(MALFORMED);
  await flood(caller, 64 * MIB);
  expect(parsed).toHaveLength(1);
  const [socket] = parsed;
  await until('the connection to be gone', async () => socket?.destroyed);
  expect(socket?.bytesRead).toBeLessThan(1.25 * MIB);
  expect(handled).toEqual([]);
});

test('while an answer before it is under way, nothing is read', async () => {
  const caller = await connectRaw(server.url);
  caller.send(GOOD + TWO_READINGS);
  await until('both requests', async () => parsed.length === 2);
  const isOver = flood(caller, 64 * MIB);
  await untilStuck(caller);
  expect(parsed).toHaveLength(2);
  expect(handled).toHaveLength(1);
  expect(parsed[0]?.bytesRead).toBeLessThan(MIB);
  expect(parsed[0]?.destroyed).toBe(false);
  handled[0]?.end();
  await isOver;
  expect(parsed).toHaveLength(2);
});

test('the answers before it, and its own, come in order', async () => {
  const caller = await connectRaw(server.url);
  caller.send(GOOD + TWO_READINGS + GOOD.repeat(100));
  await until('the first request', async () => handled.length > 0);
  handled[0]?.end();
  await caller.closed;
  expect(caller.answers().map(({ status }) => status)).toEqual([200, 400]);
  expect(handled).toHaveLength(1);
  caller.socket.destroy();
});

test('nor does a caller that has sent its last byte lose the answers before it', async () => {
  const caller = await connectRaw(server.url);
  caller.socket.end(GOOD + TWO_READINGS);
  await until('the first request', async () => handled.length > 0);
  await sleep(50);
  handled[0]?.end();
  await caller.closed;
  expect(caller.answers().map(({ status }) => status)).toEqual([200, 400]);
});
