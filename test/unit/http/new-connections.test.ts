/** Requests wait while each turn of the event loop accepts another connection, and not for longer. */
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { collectRequests } from '../../../src/http/new-connections';
import { type HttpServer, listen } from '../../../src/http/server';

/** A server that accepts connections when the test says so, and a clock that stands still. */
function createRig() {
  const server = new EventEmitter();
  let now = 0;
  const run = collectRequests(server as never, () => now);
  const handled: string[] = [];
  return {
    accept: () => server.emit('connection'),
    send: (name: string) => run(() => handled.push(name)),
    pass: (ms: number) => {
      now += ms;
    },
    handled,
  };
}

test('a request on an old connection is handled at once', async () => {
  const { accept, send, handled } = createRig();
  send('first');
  expect(handled).toEqual(['first']);
  accept();
  await nextTurn();
  await nextTurn();
  send('second');
  expect(handled).toEqual(['first', 'second']);
});

test('requests wait until a turn accepts no connection, and are handled in their order', async () => {
  const { accept, send, handled } = createRig();
  for (const name of ['a', 'b', 'c', 'd']) {
    accept();
    send(name);
    await nextTurn();
    expect(handled).toEqual([]);
  }
  await nextTurn();
  expect(handled).toEqual(['a', 'b', 'c', 'd']);
});

test('without an end of new connections, requests are handled after 10 ms', async () => {
  const { accept, send, pass, handled } = createRig();
  const turn = async (ms: number) => {
    accept();
    pass(ms);
    await nextTurn();
  };
  await turn(0);
  send('a');
  await turn(9);
  expect(handled).toEqual([]);
  send('b');
  await turn(1);
  expect(handled).toEqual(['a', 'b']);
  send('c');
  await turn(9);
  expect(handled).toEqual(['a', 'b']);
  await turn(1);
  expect(handled).toEqual(['a', 'b', 'c']);
});

test('500 requests do not wait', async () => {
  const { accept, send, handled } = createRig();
  accept();
  for (let n = 1; n < 500; n += 1) send(String(n));
  expect(handled).toEqual([]);
  send('500');
  expect(handled).toHaveLength(500);
  send('501');
  expect(handled).toHaveLength(500);
  await nextTurn();
  await nextTurn();
  expect(handled.at(-1)).toBe('501');
});

describe('a server', () => {
  let server: HttpServer;
  let handled = 0;
  beforeAll(async () => {
    const handler = (_req: IncomingMessage, res: ServerResponse) => {
      handled += 1;
      res.end('ok');
    };
    server = await listen(handler, { host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server.close());

  test('handles every request of many connections that wait to be accepted', async () => {
    const steps = new Int32Array(new SharedArrayBuffer(8));
    const { port } = new URL(server.url);
    const workerData = { steps, port: Number(port), count: 40 };
    const clients = new Worker(CLIENTS, { eval: true, workerData });
    await once(clients, 'online');
    Atomics.store(steps, 0, 1);
    Atomics.notify(steps, 0);
    // This thread accepts nothing until all clients have sent their requests.
    Atomics.wait(steps, 1, 0, 20_000);
    await once(clients, 'exit');
    expect(handled).toBe(40);
  });
});

/** Waits for the first step, then opens the connections. Sets the second step when all requests are sent. */
const CLIENTS = `
  const { connect } = require('node:net');
  const { steps, port, count } = require('node:worker_threads').workerData;
  Atomics.wait(steps, 0, 0, 20_000);
  let left = count;
  for (let n = 0; n < count; n += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.resume();
    socket.write('GET /a HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n', () => {
      left -= 1;
      if (left > 0) return;
      Atomics.store(steps, 1, 1);
      Atomics.notify(steps, 1);
    });
  }
`;
