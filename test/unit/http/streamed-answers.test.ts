/** Bodies that are taken in pieces and answers that are made in pieces: nobody may hold them for ever. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { discardRest } from '../../../src/http/body';
import { type LineGroups, startLines, writeLines } from '../../../src/http/line-answer';
import { receiveBody } from '../../../src/http/streamed-body';
import { successEnvelope } from '../../../src/protocol/envelope';
import { until } from '../../support/wait';

const servers: ReturnType<typeof createServer>[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A bare connection to a server with this handler, over which a request has begun. */
async function open(handler: RequestListener, headers = 'Content-Length: 10'): Promise<Socket> {
  const server = createServer(handler);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
  return socket;
}

describe('a body', () => {
  const receive = (taken: string[], timeout = 120_000, fail?: Error) => {
    let settle: (end: unknown) => void;
    const end = new Promise<unknown>((resolve) => {
      settle = resolve;
    });
    const onChunk = (chunk: Uint8Array) => {
      taken.push(String(chunk));
      if (fail) throw fail;
    };
    const handler: RequestListener = (req) => {
      receiveBody(req, { limit: 8, timeout, onChunk }).then(() => settle('whole'), settle);
    };
    return { handler, end };
  };

  test('is given piece by piece', async () => {
    const taken: string[] = [];
    const { handler, end } = receive(taken);
    const socket = await open(handler, 'Content-Length: 8');
    socket.write('abc');
    await until('the first piece', async () => taken.length > 0);
    expect(taken).toEqual(['abc']);
    socket.write('defgh');
    expect(await end).toBe('whole');
    expect(taken.join('')).toBe('abcdefgh');
  });

  test('without an end is given up', async () => {
    const { handler, end } = receive([], 100);
    await open(handler);
    expect(await end).toMatchObject({ reason: 'REQUEST_TIMEOUT', code: 408, retryable: true });
  });

  test('that is broken off is incomplete', async () => {
    const { handler, end } = receive([]);
    const socket = await open(handler);
    socket.end('abc');
    expect(await end).toMatchObject({ reason: 'BODY_INCOMPLETE', retryable: true });
  });

  test('over the limit is taken up to it', async () => {
    const taken: string[] = [];
    const { handler, end } = receive(taken);
    const socket = await open(handler, 'Transfer-Encoding: chunked');
    socket.write('5\r\nabcde\r\n');
    await until('the first piece', async () => taken.length > 0);
    socket.write('5\r\nfghij\r\n');
    expect(await end).toMatchObject({ reason: 'BODY_TOO_LARGE' });
    expect(taken.join('')).toBe('abcde');
  });

  test('that cannot be taken fails with the reason', async () => {
    const fail = new Error('broken');
    const { handler, end } = receive([], undefined, fail);
    const socket = await open(handler);
    socket.write('abc');
    expect(await end).toBe(fail);
  });

  test('that is rejected is read for a moment, so that its sender reads the answer', async () => {
    // The moment does not end, however long this process stands still.
    const { signal } = new AbortController();
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(signal);
    const socket = await open(async (req, res) => {
      await discardRest(req);
      res.end(String(req.complete));
    }, 'Content-Length: 3000000');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.write('x'.repeat(3_000_000));
    await until('the answer', async () => answer.includes('true'));
  });
});

describe('an answer', () => {
  const last = {
    success: (data: unknown) => successEnvelope(data, 'id', 0),
    failure: () => successEnvelope('failure', 'id', 0),
  };
  const answer =
    (lines: LineGroups, stall: number): RequestListener =>
    async (req, res) => {
      req.resume();
      pipeline(writeLines(res, await startLines(res, lines), last, stall), res, () => undefined);
    };

  test('that nobody takes is ended, and what it was read from is closed', async () => {
    let closed = false;
    const endless = async function* (): LineGroups {
      try {
        for (;;) yield ['x'.repeat(100_000)];
      } finally {
        closed = true;
      }
    };
    const socket = await open(answer(endless(), 200), 'Content-Length: 0');
    socket.pause();
    await until('the end of what it was read from', async () => closed);
  });

  test('that is long in the making is not', async () => {
    const slow = async function* (): LineGroups {
      yield ['one'];
      await sleep(600);
      yield ['two'];
      return 'done';
    };
    const socket = await open(answer(slow(), 100), 'Content-Length: 0');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await until('the last line', async () => text.includes('done'));
    expect(text).toContain('"two"\n');
    expect(text).toContain('"data":"done"');
  });
});
