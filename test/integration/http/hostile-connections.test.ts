/**
 * Callers that hold on to a connection: slow ones, broken ones, one that never reads. Each wait on a
 * caller has an end; the others are served meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expectUnharmed, SMUGGLED } from '../../support/attack';
import { seedLedger } from '../../support/ledger-seed';
import { connectRaw, type RawCaller, type RawPush, rawPush } from '../../support/raw-http';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const BODY = JSON.stringify({ matterType: 'TODO', externalId: SMUGGLED, title: 'x' });
const ROWS = 500;
const CONTENT = 'x'.repeat(60_000);
const CHUNKED = ['Transfer-Encoding: chunked'];

let service: Service;
let unread: Promise<RawCaller>;
beforeAll(async () => {
  service = await startService();
  await seedLedger(service.db, ROWS, (n) => ({ externalId: `LONG-${n}`, content: CONTENT }));
  // The service waits ten seconds, in which the other tests run.
  unread = neverRead();
  unread.catch(() => undefined);
});
afterAll(() => service.stop());

function hostile(changes: Partial<RawPush> = {}): string {
  const { clientId, secret } = service;
  return rawPush({ clientId, secret, body: BODY, ...changes });
}

async function open(bytes: string): Promise<RawCaller> {
  const caller = await connectRaw(service.urlOf());
  caller.send(bytes);
  return caller;
}

/** Sends something every so many milliseconds until the service has had enough. */
async function drip(bytes: string, drop: string, every = 1_000): Promise<RawCaller> {
  const caller = await open(bytes);
  const timer = setInterval(() => caller.send(drop), every);
  await caller.closed;
  clearInterval(timer);
  caller.socket.destroy();
  return caller;
}

/** Longer than the service waits for a caller that takes nothing, milliseconds. */
const STALLED = 12_000;

/** Asks for a long answer and takes its beginning alone. @returns once the service has cut it off */
async function neverRead(): Promise<RawCaller> {
  const externalIds = Array.from({ length: ROWS }, (_, n) => `LONG-${n}`);
  const body = JSON.stringify({ externalIds });
  const caller = await until('an answer to begin', async () => {
    const one = await connectRaw(service.urlOf());
    one.socket.once('data', () => one.socket.pause());
    one.send(hostile({ target: '/api/open/matters/get', body }));
    await until('an answer', async () => one.received() !== '');
    // The database of a busy machine may answer too late.
    const isRejected = one.received().startsWith('HTTP/1.1 503');
    if (isRejected) one.socket.destroy();
    return !isRejected && one;
  });
  // What is sent to it makes the service wait anew, where it still waits.
  while (!caller.socket.destroyed) {
    await sleep(STALLED);
    caller.send('x');
  }
  return caller;
}

describe('a caller that does not come to an end', () => {
  /** What it does, and the answers that it may get; whoever sends a flood may miss its answer. */
  const ATTACKS: readonly [string, () => Promise<RawCaller>, string[], 'flood'?][] = [
    ['sends nothing', () => drip('', ''), ['REQUEST_TIMEOUT']],
    [
      'sends its head a byte per second',
      () => drip('POST /api/open/matters/upsert HTTP/1.1\r\nX-A: ', 'a'),
      ['REQUEST_TIMEOUT'],
    ],
    [
      'sends its body a byte per second',
      () => drip(hostile({ sent: BODY.slice(0, 10) }), BODY[10] ?? ''),
      ['REQUEST_TIMEOUT'],
    ],
    [
      'sends a chunk per second',
      () => drip(hostile({ framing: CHUNKED, sent: '' }), '1\r\nx\r\n'),
      ['REQUEST_TIMEOUT'],
    ],
    ['sends no body', () => drip(hostile({ sent: '' }), ''), ['REQUEST_TIMEOUT']],
    [
      'announces a chunk of 2^64 - 1 bytes',
      () => drip(hostile({ framing: CHUNKED, sent: `ffffffffffffffff\r\n${BODY}\r\n` }), ''),
      ['REQUEST_TIMEOUT', 'BODY_TOO_LARGE'],
    ],
    [
      'sends a body without end',
      () => drip(hostile({ framing: CHUNKED, sent: '' }), `10000\r\n${'x'.repeat(65_536)}\r\n`, 20),
      ['BODY_TOO_LARGE'],
      'flood',
    ],
    [
      'sends a body without end to nowhere',
      () => drip(hostile({ framing: CHUNKED, target: '/nowhere', sent: '' }), '1\r\nx\r\n'),
      ['PATH_NOT_FOUND'],
    ],
    [
      'sends a body without end to where none is read',
      () => drip(`GET /healthz HTTP/1.1\r\nHost: a\r\n${CHUNKED}\r\n\r\n`, '1\r\nx\r\n'),
      ['(code 0)'],
    ],
    [
      'sends garbage without end',
      () => drip('\0\x01\x02', '\0'.repeat(65_536), 20),
      ['MALFORMED_REQUEST'],
      'flood',
    ],
  ];
  const ends = new Map<string, Promise<RawCaller>>();
  // All at once: each takes its ten seconds and more.
  beforeAll(() => {
    for (const [what, act] of ATTACKS) ends.set(what, act());
    for (const end of ends.values()) end.catch(() => undefined);
  });

  test('others are served all the while', async () => {
    let over = false;
    void Promise.allSettled(ends.values()).then(() => {
      over = true;
    });
    while (!over) await Promise.all([expectUnharmed(service), sleep(100)]);
  });

  // Jest would take a fourth parameter that a row does not have for its own callback.
  test.each(ATTACKS)('%s is cut off', async (what, _act, reasons, ...[flood]) => {
    const caller = await ends.get(what);
    const answers = caller?.answers() ?? [];
    expect(answers.length).toBeLessThanOrEqual(1);
    if (!flood) expect(answers).toHaveLength(1);
    for (const { reason = '(code 0)' } of answers.map((answer) => answer.envelope())) {
      expect(reasons).toContain(reason);
    }
    await expectUnharmed(service, caller?.received());
  });
});

test('a caller that keeps its end open after its last answer does not keep ours', async () => {
  const caller = await open('GARBAGE\r\n\r\n');
  await caller.closed;
  expect(caller.answers()[0]?.envelope()).toMatchObject({ reason: 'MALFORMED_REQUEST' });
  await until('the connection to be gone', async () => {
    caller.send('x');
    return caller.socket.destroyed;
  });
  await expectUnharmed(service, caller.received());
});

describe('a caller that breaks off', () => {
  const head = 'POST /api/open/matters/upsert HTTP/1.1\r\nHost: a\r\nX-A';
  test.each<[string, () => string, string]>([
    ['in its body', () => hostile({ sent: BODY.slice(0, 10) }), 'BODY_INCOMPLETE'],
    ['before its body', () => hostile({ sent: '' }), 'BODY_INCOMPLETE'],
    ['between chunks', () => hostile({ framing: CHUNKED, sent: '1\r\n{\r\n' }), 'BODY_INCOMPLETE'],
    ['in its head', () => head, 'MALFORMED_REQUEST'],
  ])('%s and still reads is told so', async (_where, bytes, reason) => {
    const caller = await open(bytes());
    caller.socket.end();
    await caller.closed;
    expect(caller.answers().map((answer) => answer.envelope())).toEqual([
      expect.objectContaining({ code: 400, reason, data: null }),
    ]);
    caller.socket.destroy();
    await expectUnharmed(service, caller.received());
  });

  test('and resets the connection harms nobody', async () => {
    for (const bytes of [head, hostile({ sent: BODY.slice(0, 10) }), 'GARBAGE']) {
      const caller = await open(bytes);
      await sleep(50);
      caller.socket.resetAndDestroy();
    }
    await expectUnharmed(service);
  });
});

describe('CONNECT, for which Node lets go of the connection', () => {
  const CONNECT = 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n';
  const before = JSON.stringify({ matterType: 'TODO', externalId: 'BEFORE', title: 'x' });
  const push = () => hostile({ body: before });
  const TWO_READINGS = 'GET / HTTP/1.1\r\n\r\n';
  const UPGRADE = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n';

  test.each<[string, () => string]>([
    ['alone', () => CONNECT],
    ['behind a push', () => push() + CONNECT],
    ['behind many pushes', () => push().repeat(20) + CONNECT],
    ['behind a rejected head', () => TWO_READINGS + CONNECT],
    ['behind a push and a rejected head', () => push() + TWO_READINGS + CONNECT],
    ['twice', () => CONNECT + CONNECT],
    ['not, but an upgrade that nobody offers', () => UPGRADE],
  ])('%s, and a reset, harms nobody', async (_where, bytes) => {
    for (const ms of [0, 5, 20, 200]) {
      const caller = await open(bytes());
      await sleep(ms);
      caller.socket.resetAndDestroy();
    }
    // What a late reset would do shows before the linger is over.
    await sleep(100);
    await expectUnharmed(service);
  });

  test('behind a long answer that nobody takes ends it', async () => {
    const externalIds = Array.from({ length: ROWS }, (_, n) => `LONG-${n}`);
    const body = JSON.stringify({ externalIds });
    const caller = await connectRaw(service.urlOf());
    caller.socket.pause();
    caller.send(hostile({ target: '/api/open/matters/get', body }) + CONNECT);
    await until('the connection to be gone', async () => {
      caller.send('x');
      return caller.socket.destroyed;
    });
    expect(caller.received()).toBe('');
    await expectUnharmed(service);
  });
});

test('a caller that never reads its answer is cut off, and it is not kept', async () => {
  const received = (await unread).received();
  expect(received).toMatch(/^HTTP\/1.1 200 /);
  expect(received.length).toBeLessThan(ROWS * CONTENT.length);
  await expectUnharmed(service);
});
