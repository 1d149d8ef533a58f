/**
 * A keep-alive connection that sends requests and reads answers. It implements only the parts of HTTP that the
 * contenders use, because the generator must need far less processor time than the contenders.
 */
import { connect, type Socket } from 'node:net';

export interface LeanAnswer {
  readonly status: number;
  readonly body: Buffer;
}

export interface LeanConnection {
  /**
   * Sends one request; the caller waits for the answer before the next one.
   * @throws Error if the connection breaks, if no answer comes in time, or if the answer has no Content-Length
   */
  send(request: Buffer): Promise<LeanAnswer>;
  close(): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = /\r\ncontent-length: *(\d+)/i;
/** Milliseconds without data. Longer than the default deadlines, but shorter than PUSH_TIMEOUT of SLOW_DATABASE. */
const TIMEOUT = 60_000;

export async function openConnection(port: number): Promise<LeanConnection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await opened(socket);
  let held: Buffer = Buffer.alloc(0);
  let waiter: { resolve(answer: LeanAnswer): void; reject(error: Error): void } | undefined;
  const fail = (error: Error) => {
    waiter?.reject(error);
    waiter = undefined;
    socket.destroy();
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the connection was closed')));
  socket.setTimeout(TIMEOUT, () => fail(new Error(`no answer within ${TIMEOUT} ms`)));
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    try {
      const answer = parseAnswer(held);
      if (!answer) return;
      held = Buffer.alloc(0);
      waiter?.resolve(answer);
      waiter = undefined;
    } catch (error) {
      fail(error as Error);
    }
  });
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error('the connection was closed'));
        waiter = { resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

function opened(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve();
    });
  });
}

/** @returns undefined if the answer is incomplete */
export function parseAnswer(bytes: Buffer): LeanAnswer | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const length = LENGTH.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without Content-Length: ${head}`);
  const from = end + HEAD_END.length;
  if (bytes.length < from + Number(length)) return undefined;
  return {
    status: Number(head.slice(9, 12)),
    body: bytes.subarray(from, from + Number(length)),
  };
}
