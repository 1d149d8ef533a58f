/** A caller that writes bytes to a socket as it likes, and reads what comes back as HTTP answers. */
import { connect, type Socket } from 'node:net';
import { sign } from '../../src/protocol/signature';
import type { Answer } from './pusher';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** @throws SyntaxError where the body is not JSON */
  envelope(): Pick<Answer, 'code' | 'message' | 'reason' | 'requestId' | 'data'>;
}

export interface RawCaller {
  readonly socket: Socket;
  /** Text is sent as one byte per character. */
  send(bytes: string | Buffer): void;
  /** Everything that came, as text. */
  received(): string;
  /** What came so far, cut into answers; interim ones (1xx) among them. */
  answers(): RawAnswer[];
  /** When nothing more can come, milliseconds after the connection was made. */
  readonly closed: Promise<number>;
  /** @throws Error where the connection ends, or two minutes pass, before so many answers are there */
  untilAnswers(count: number): Promise<RawAnswer[]>;
}

/** The service ends its side of some connections alone; ours end with the test file. */
const sockets = new Set<Socket>();
afterAll(() => {
  for (const socket of sockets) socket.destroy();
});

/** @param url where to connect; its path is not used */
export async function connectRaw(url: string): Promise<RawCaller> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  const chunks: Buffer[] = [];
  const startedAt = Date.now();
  socket.on('data', (chunk) => chunks.push(chunk));
  // The service may reset a connection that it has answered.
  socket.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => {
    const end = () => resolve(Date.now() - startedAt);
    socket.once('end', end);
    socket.once('close', end);
  });
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const send = (bytes: string | Buffer) =>
    void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  const received = () => Buffer.concat(chunks).toString('latin1');
  const answers = () => parseAnswers(received());
  const untilAnswers = async (count: number) => {
    const isOver = closed.then(() => true);
    const end = performance.now() + 120_000;
    for (;;) {
      const found = answers();
      if (found.length >= count) return found;
      const over = await Promise.race([isOver, pause(20)]);
      const last = answers();
      if (last.length >= count) return last;
      if (over || performance.now() > end) {
        throw new Error(`${last.length} of ${count} answers: ${received().slice(0, 2_000)}`);
      }
    }
  };
  return { socket, send, received, answers, closed, untilAnswers };
}

export interface RawPush {
  readonly clientId: string;
  readonly secret: string;
  readonly body: string;
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  readonly timestamp?: string;
  /** Lines before the signed headers, in place of `Host: test`. */
  readonly host?: readonly string[];
  /** In place of the signed headers. */
  readonly auth?: readonly string[];
  /** In place of Content-Length. */
  readonly framing?: readonly string[];
  readonly headers?: readonly string[];
  /** In place of the body that is signed. */
  readonly sent?: string;
}

/** A signed push, as text of one byte per character. */
export function rawPush(push: RawPush): string {
  const { method = 'POST', target = '/api/open/matters/upsert', version = 'HTTP/1.1' } = push;
  const { body, host = ['Host: test'], headers = [], sent = body } = push;
  const framing = push.framing ?? [`Content-Length: ${Buffer.byteLength(body)}`];
  const auth = push.auth ?? authLines(push);
  const head = [`${method} ${target} ${version}`, ...host, ...auth, ...headers, ...framing];
  return `${head.join('\r\n')}\r\n\r\n${sent}`;
}

export function authLines({ clientId, secret, body, timestamp = now() }: RawPush): string[] {
  const signature = sign(secret, clientId, timestamp, body);
  return [`X-Client-Id: ${clientId}`, `X-Timestamp: ${timestamp}`, `X-Signature: ${signature}`];
}

/** The body as one chunk. */
export const chunked = (body: string, extension = '') =>
  `${Buffer.byteLength(body).toString(16)}${extension}\r\n${body}\r\n0\r\n\r\n`;

const now = () => String(Math.floor(Date.now() / 1000));
const pause = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false));

/** Answers to HEAD, and interim ones, have no body. */
function parseAnswers(text: string): RawAnswer[] {
  const found: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (!rest.startsWith('HTTP/1.1 ') || end < 0) return found;
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n');
    const headers = new Map(
      fields.map((field) => {
        const colon = field.indexOf(':');
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers.get('content-length') ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    const utf8 = Buffer.from(body, 'latin1').toString('utf8');
    if (body.length < length) return found;
    rest = rest.slice(end + 4 + length);
    const status = Number(line.split(' ')[1]);
    found.push({ status, headers, body: utf8, envelope: () => JSON.parse(utf8) });
  }
}
