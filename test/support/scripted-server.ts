/** A server that answers as a test tells it, and keeps what it was sent. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { sign } from '../../src/protocol/signature';

export const SECRET = 's3cret';

export interface Received {
  readonly path: string;
  readonly text: string;
  /** externalId of the body. */
  readonly id: string;
  /** X-Idempotency-Key. */
  readonly key: string | undefined;
  /** X-Timestamp. */
  readonly timestamp: number;
  /** With SECRET, over the very bytes, now. */
  readonly isSigned: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Resolves when its connection is gone. */
  readonly gone: Promise<void>;
}

export type Reply = (response: ServerResponse) => void;

export interface ScriptedServer {
  readonly url: string;
  readonly received: Received[];
  /** What is answered to a request, the nth of its key. */
  reply: (request: Received, nth: number) => Reply | Promise<Reply>;
  /** What /readyz says. */
  isReady: boolean;
  close(): Promise<void>;
}

function answer(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, headers).end(JSON.stringify({ requestId: 'r1', ...body }));
}

export const ok: Reply = (response) =>
  answer(response, 200, { code: 0, data: { matterId: '7', externalId: 'A', outcome: 'UPDATED' } });
export const reject =
  (status: number, reason: string, retryable: boolean, headers = {}, more = {}): Reply =>
  (response) =>
    answer(response, status, { code: status, message: 'no', reason, retryable, ...more }, headers);
export const drop: Reply = (response) => response.destroy();
export const hang: Reply = () => {};

export async function startScriptedServer(): Promise<ScriptedServer> {
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const scripted: ScriptedServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    reply: () => ok,
    isReady: true,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/readyz') {
      const code = scripted.isReady ? 0 : 503;
      answer(response, code || 200, { code });
      return;
    }
    const received = await read(request);
    scripted.received.push(received);
    const nth = scripted.received.filter(({ key }) => key === received.key).length;
    (await scripted.reply(received, nth))(response);
  }
  return scripted;
}

async function read(request: IncomingMessage): Promise<Received> {
  const { headers, socket } = request;
  const raw = await buffer(request);
  const [client, time] = [String(headers['x-client-id']), String(headers['x-timestamp'])];
  const signature = sign(SECRET, client, time, raw);
  return {
    path: String(request.url),
    text: raw.toString(),
    id: String(JSON.parse(raw.toString()).externalId),
    key: headers['x-idempotency-key']?.toString(),
    timestamp: Number(time),
    isSigned:
      headers['x-signature'] === signature && Math.abs(Date.now() / 1000 - Number(time)) < 5,
    at: Date.now(),
    gone: goneOf(socket),
  };
}

const ends = new WeakMap<Socket, Promise<void>>();

function goneOf(socket: Socket): Promise<void> {
  const known = ends.get(socket);
  if (known) return known;
  const gone = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  ends.set(socket, gone);
  return gone;
}
