/** A server that answers as a test tells it, and keeps what it was sent. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { BATCH_PATH, pushPath } from '../../src/protocol/paths';
import { sign } from '../../src/protocol/signature';

export const SECRET = 's3cret';

export interface Received {
  readonly path: string;
  readonly text: string;
  /** Of a push in a batch: its line. */
  readonly line?: string;
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
  /** The batches among what was received; their lines are in `received`, each as a push of its own. */
  readonly batches: Received[][];
  /** What is answered to a request, or to a line of a batch, the nth of its key. */
  reply: (request: Received, nth: number) => Reply | Promise<Reply>;
  /** What is answered to a whole batch, the nth; undefined: its lines are replied to. */
  replyToBatch: (lines: readonly Received[], nth: number) => Reply | undefined;
  /** What /readyz says. */
  isReady: boolean;
}

export function answer(response: ServerResponse, status: number, body: object, headers = {}): void {
  const timestamp = new Date().toISOString();
  response.writeHead(status, headers).end(JSON.stringify({ requestId: 'r1', timestamp, ...body }));
}

/** A success with this `data`. */
export const okWith =
  (data: object): Reply =>
  (response) =>
    answer(response, 200, { code: 0, data });
/** A push that was persisted. */
export const ok = okWith({ matterId: '7', externalId: 'A', outcome: 'UPDATED' });
export const reject =
  (status: number, reason: string, retryable: boolean, headers = {}, more = {}): Reply =>
  (response) =>
    answer(response, status, { code: status, message: 'no', reason, retryable, ...more }, headers);
export const drop: Reply = (response) => response.destroy();
export const hang: Reply = () => {};

const NEW: Pick<ScriptedServer, 'reply' | 'replyToBatch' | 'isReady'> = {
  ...{ reply: () => ok, replyToBatch: () => undefined, isReady: true },
};

/** One for all tests of a file: it runs while they do, and each finds it as if it were new. */
export function useScriptedServer(): ScriptedServer {
  // It closes no idle connection: after a stall it would do that while a client sends on it.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void serve(request, response);
  });
  const scripted: ScriptedServer = {
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    received: [],
    batches: [],
    ...NEW,
  };
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    scripted.received.length = 0;
    scripted.batches.length = 0;
    Object.assign(scripted, NEW);
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/readyz') {
      const code = scripted.isReady ? 0 : 503;
      answer(response, code || 200, code === 0 ? { code } : { code, reason: 'SHUTTING_DOWN' });
      return;
    }
    const received = await read(request);
    if (request.url === BATCH_PATH) {
      await serveBatch(linesOf(received), response);
      return;
    }
    (await replyTo(received))(response);
  }
  function replyTo(received: Received): Reply | Promise<Reply> {
    scripted.received.push(received);
    const nth = scripted.received.filter(({ key }) => key === received.key).length;
    return scripted.reply(received, nth);
  }
  async function serveBatch(lines: Received[], response: ServerResponse): Promise<void> {
    scripted.batches.push(lines);
    const whole = scripted.replyToBatch(lines, scripted.batches.length);
    if (whole) {
      whole(response);
      return;
    }
    const results: (Omit<LineResult, 'retryAfter'> & { readonly line: number })[] = [];
    const waits: number[] = [];
    for (const [index, line] of lines.entries()) {
      const result = resultOf(await replyTo(line));
      if (!result) {
        response.destroy();
        return;
      }
      const { retryAfter, ...told } = result;
      if (retryAfter !== undefined) waits.push(Number(retryAfter));
      results.push({ line: index + 1, ...{ requestId: 'r1' }, ...told });
    }
    const code = results.every(({ code }) => code === 0) ? 0 : 207;
    const headers = waits.length > 0 ? { 'Retry-After': String(Math.max(...waits)) } : {};
    const reason = code === 0 ? {} : { reason: 'PARTIAL_FAILURE' };
    answer(response, code || 200, { code, ...reason, data: { results } }, headers);
  }
  return scripted;
}

/** As a push each. */
function linesOf(batch: Received): Received[] {
  const lines = batch.text.trimEnd().split('\n');
  return lines.map((text) => {
    const { op, body, key } = JSON.parse(text);
    const id = String(body.externalId);
    return { ...batch, path: pushPath(op), text: JSON.stringify(body), line: text, id, key };
  });
}

interface LineResult {
  readonly code: number;
  /** Its header, which the answer to the batch has once. */
  readonly retryAfter: string | undefined;
}

/** What a reply says, as a line of the answer to a batch; undefined: it breaks the connection. */
function resultOf(reply: Reply): LineResult | undefined {
  let result: LineResult | undefined;
  let isReplay = false;
  let retryAfter: string | undefined;
  const response = {
    writeHead: (_: number, headers: Record<string, string> = {}) => {
      isReplay = headers['Idempotency-Replayed'] === 'true';
      retryAfter = headers['Retry-After'];
      return response;
    },
    end: (text: string) => {
      const { data, ...told } = JSON.parse(text);
      result = { ...told, ...data, ...(isReplay && { replayed: true }), retryAfter };
    },
    destroy: () => {},
  };
  reply(response as unknown as ServerResponse);
  return result;
}

async function read(request: IncomingMessage): Promise<Received> {
  const { headers, socket } = request;
  const raw = await buffer(request);
  const [client, time] = [String(headers['x-client-id']), String(headers['x-timestamp'])];
  const signature = sign(SECRET, client, time, raw);
  return {
    path: String(request.url),
    text: raw.toString(),
    id: request.url === BATCH_PATH ? '' : idOf(raw.toString()),
    key: headers['x-idempotency-key']?.toString(),
    timestamp: Number(time),
    isSigned:
      headers['x-signature'] === signature && Math.abs(Date.now() / 1000 - Number(time)) < 300,
    at: Date.now(),
    gone: goneOf(socket),
  };
}

function idOf(text: string): string {
  try {
    return String(JSON.parse(text).externalId);
  } catch {
    // No JSON: a test of what the service would say of it.
    return '';
  }
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
