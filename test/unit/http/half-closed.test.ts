/** A caller that closed its sending side keeps its connection until it has its answer, and no longer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type HttpServer, listen } from '../../../src/http/server';
import { connectRaw } from '../../support/raw-http';
import { until } from '../../support/wait';

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';

let server: HttpServer;
const waiting: { readonly socket: Socket; readonly res: ServerResponse }[] = [];
beforeAll(async () => {
  const handler = ({ socket }: IncomingMessage, res: ServerResponse) =>
    void waiting.push({ socket, res });
  server = await listen(handler, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

/** Sends requests and closes the sending side. @returns the last request, when the service knows the end */
async function sendAndClose(bytes: string, count: number) {
  waiting.length = 0;
  const caller = await connectRaw(server.url);
  caller.socket.end(bytes);
  await until('the request', async () => waiting.length >= 1);
  const [first] = waiting;
  await until('the end of what the caller sends', async () => first?.socket.readableEnded);
  return { caller, answer: (text: string) => answerAll(text, count), socket: first?.socket };
}

async function answerAll(text: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await until('the next request', async () => waiting.length > n);
    waiting[n]?.res.end(text);
  }
}

test('an answer that comes late arrives, and the connection is closed behind it', async () => {
  const { caller, answer, socket } = await sendAndClose(GET, 1);
  expect(socket?.destroyed).toBe(false);
  await answer('late');
  await caller.closed;
  expect(caller.received()).toMatch(/late/);
  await until('the connection to be gone', async () => socket?.destroyed);
});

test('all requests that were sent before are answered', async () => {
  const { caller, answer } = await sendAndClose(GET.repeat(3), 3);
  await answer('x');
  await caller.closed;
  expect(caller.received().match(/HTTP\/1.1 200/g)).toHaveLength(3);
});

test('one that reads no answer is cut off', async () => {
  const { caller, answer, socket } = await sendAndClose(GET, 1);
  caller.socket.pause();
  await answer('x'.repeat(64 * 1024 * 1024));
  await until('the connection to be gone', async () => socket?.destroyed);
  caller.socket.destroy();
});

test('one that sent nothing is gone at once', async () => {
  const caller = await connectRaw(server.url);
  caller.socket.end();
  await caller.closed;
  expect(caller.received()).toBe('');
});
