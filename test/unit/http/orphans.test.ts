/** `matters/orphans` over HTTP with a ledger that obeys the test: who gets which answer, and when. */
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HmacAuthDependencies } from '../../../src/http/authenticate';
import { createEndRequest } from '../../../src/http/end-request';
import { createOrphansUpload, orphansRoute } from '../../../src/http/routes/orphans';
import { koaStreamedHmacAuth } from '../../../src/http/streamed-body';
import { createLogger } from '../../../src/infra/logger';
import { PushError } from '../../../src/protocol/errors';
import { sign } from '../../../src/protocol/signature';
import { createFindOrphans } from '../../../src/queries/orphans';
import type { LogEntry } from '../../../src/storage/push-log/entry';
import { createIdSource } from '../../../src/storage/push-log/request-id';
import { aClient, aMatter } from '../../support/builders';
import { type KoaApp, startKoaApp } from '../../support/koa-app';
import { connectRaw, rawPush } from '../../support/raw-http';
import { until } from '../../support/wait';

const LIMIT = 100_000;
const CLIENTS = ['oa', 'erp', 'crm', 'hr'].map((clientId) => aClient({ clientId }));

/** What the ledger does, and what was seen of it. */
const ledger = {
  open: 0,
  pause: async (_n: number): Promise<unknown> => undefined,
  reading: 0,
};
/** Milliseconds for each part of an answer. */
const LONG = 120_000;
let timeout = LONG;
/** Requests whose client was looked up: a list takes its place then. */
let lookedUp = 0;
const rejected: LogEntry[] = [];
const used: string[] = [];
let ready: () => void = () => undefined;
let app: KoaApp;

beforeAll(async () => {
  const logger = createLogger('test', 'silent');
  const newRequestId = createIdSource().ofRequest;
  const checkReady = () => ready();
  const findFresh = async (id: string) => {
    lookedUp += 1;
    return CLIENTS.find(({ clientId }) => clientId === id);
  };
  const auth: HmacAuthDependencies = {
    clients: { find: findFresh, findFresh, maxSecretCount: () => 2 },
    database: { guard: <T>(call: Promise<T>) => call },
    logRejection: ({ entry }) => void rejected.push(entry()),
    noteUse: ({ clientId, secretId }) => void used.push(`${clientId} ${secretId}`),
    checkReady,
    newRequestId,
    clock: Date.now,
    timeout: LONG,
  };
  const open = async function* () {
    ledger.reading += 1;
    try {
      for (let n = 0; n < ledger.open; n += 1) {
        await ledger.pause(n);
        yield aMatter({ externalId: `HD-${String(n).padStart(6, '0')}` });
      }
    } finally {
      ledger.reading -= 1;
    }
  };
  const find = createFindOrphans({ open });
  const listeners = { clock: Date.now, logger };
  const end = createEndRequest(listeners);
  const answers = { ...listeners, always200: false, pathPrefix: '', end, isLeaving: () => false };
  const limits = {
    get timeout() {
      return timeout;
    },
  };
  const route = orphansRoute(
    Object.assign(limits, {
      find,
      checkReady,
      database: { guard: <T>(call: Promise<T>) => call },
    }),
  );
  app = await startKoaApp(answers, koaStreamedHmacAuth(auth, createOrphansUpload(LIMIT)), route);
});
afterAll(() => app.stop());
beforeEach(() => {
  Object.assign(ledger, { open: 3, pause: async () => undefined });
  ready = () => undefined;
  [timeout, lookedUp] = [LONG, 0];
  rejected.length = 0;
  used.length = 0;
});

interface Sending {
  readonly clientId?: string;
  readonly secret?: string;
  readonly headers?: Record<string, string>;
  /** Leaves the request open: its end is up to the test. */
  readonly unfinished?: boolean;
}

function send(
  body: string,
  { clientId = 'oa', secret = 'secret', headers, unfinished }: Sending = {},
) {
  const timestamp = headers?.['X-Timestamp'] ?? String(Math.floor(Date.now() / 1000));
  const { port } = app;
  const req = request({ port, host: '127.0.0.1', method: 'POST', agent: false });
  const signed = {
    'X-Client-Id': clientId,
    'X-Timestamp': timestamp,
    'X-Signature': sign(secret, clientId, timestamp, body),
  };
  for (const [name, value] of Object.entries({ ...signed, ...headers })) req.setHeader(name, value);
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    req.on('response', resolve);
    req.on('error', reject);
  });
  // A connection that the test breaks off has nobody waiting for its answer.
  response.catch(() => undefined);
  req.write(body);
  if (!unfinished) req.end();
  return { req, response, answer: () => response.then(linesOf) };
}

interface Line {
  readonly [field: string]: unknown;
}

async function linesOf(
  res: IncomingMessage,
): Promise<{ status: number; rows: Line[]; last: Line }> {
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString().split('\n').filter(Boolean);
  const rows = lines.map((line) => JSON.parse(line) as Line);
  const last = rows.pop() ?? {};
  return { status: res.statusCode ?? 0, rows, last };
}

const untilLookedUp = (count: number) => until(`${count} requests`, async () => lookedUp >= count);
const untilTaken = () => until('its place', async () => (await send('').answer()).last.code === 0);
const untilClosed = () => until('the end of the read', async () => ledger.reading === 0);

test('what is open and not listed comes out, and the envelope is the last line', async () => {
  const { status, rows, last } = await send('"HD-000001"\n"HD-X"\n').answer();
  expect(status).toBe(200);
  expect(rows).toEqual([
    {
      externalId: 'HD-000000',
      matterId: '7',
      matterType: 'TODO',
      title: 'old title',
      bizType: null,
      bizStatus: 'PENDING',
      phase: 'OPEN',
      sourceUpdatedAt: null,
      updatedAt: '2024-05-31T23:59:30.000Z',
    },
    expect.objectContaining({ externalId: 'HD-000002' }),
  ]);
  expect(last).toEqual({
    code: 0,
    message: 'success',
    data: { listed: 2, open: 3, orphans: 2 },
    requestId: expect.stringMatching(/^[0-9a-f]{24}$/),
    timestamp: expect.any(String),
  });
  const { headers } = await send('').response;
  expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
});

test('a list that its client has signed is a use of the secret, and no other one', async () => {
  await send('"HD-1"').answer();
  await send('"HD-1"', { secret: 'wrong' }).answer();
  expect(used).toEqual(['oa one']);
});

test('an empty list finds everything, an empty ledger nothing', async () => {
  expect((await send('').answer()).last).toMatchObject({
    data: { listed: 0, open: 3, orphans: 3 },
  });
  ledger.open = 0;
  expect(await send('"HD-1"').answer()).toMatchObject({
    rows: [],
    last: { data: { listed: 1, open: 0 } },
  });
});

const OVER = 'x'.repeat(LIMIT + 1);
test.each<[string, string, Sending, string, number]>([
  [
    'too long, said at once',
    OVER,
    { headers: { 'Content-Length': String(LIMIT + 1) } },
    'BODY_TOO_LARGE',
    413,
  ],
  ['too long, seen on the way', OVER, {}, 'BODY_TOO_LARGE', 413],
  ['too long, and of nobody', OVER, { clientId: 'nobody' }, 'BODY_TOO_LARGE', 413],
  ['compressed', '', { headers: { 'Content-Encoding': 'gzip' } }, 'UNSUPPORTED_ENCODING', 415],
  ['without a header', '', { headers: { 'X-Signature': '' } }, 'HMAC_HEADERS_MISSING', 401],
  ['late', '', { headers: { 'X-Timestamp': '1700000000' } }, 'TIMESTAMP_OUT_OF_WINDOW', 401],
  [
    'with half a signature',
    'no JSON',
    { headers: { 'X-Signature': 'abc' } },
    'SIGNATURE_MISMATCH',
    401,
  ],
  ['with a wrong signature', 'no JSON', { secret: 'wrong' }, 'SIGNATURE_MISMATCH', 401],
  ['of nobody', 'no JSON', { clientId: 'nobody' }, 'SIGNATURE_MISMATCH', 401],
  ['with a bad line', '"HD-1"\nno JSON', {}, 'VALIDATION_FAILED', 400],
])(
  'a list that is %s is rejected, and a next one is not',
  async (_, body, sending, reason, code) => {
    const { status, last } = await send(body, sending).answer();
    expect({ status, ...last }).toMatchObject({ status: code, code, reason, data: null });
    expect(ledger.reading).toBe(0);
    expect((await send('').answer()).last).toMatchObject({ code: 0 });
  },
);

test('a wrong signature and an unknown client get the same answer', async () => {
  const [wrong, unknown] = await Promise.all(
    ['oa', 'nobody'].map((clientId) => send('"HD-1"', { clientId, secret: 'wrong' }).response),
  );
  const same = ({ statusCode, headers }: IncomingMessage) => ({ statusCode, ...headers, date: '' });
  expect(same(unknown as IncomingMessage)).toEqual(same(wrong as IncomingMessage));
});

test('a rejection of a known client is recorded, with the hash and size of what was sent', async () => {
  await send('"HD-1"', { secret: 'wrong' }).answer();
  await send('"HD-1"', { clientId: 'nobody' }).answer();
  expect(rejected).toEqual([
    expect.objectContaining({
      clientId: 'oa',
      operation: 'matters/orphans',
      result: 'SIGNATURE_MISMATCH',
      // printf '"HD-1"' | sha256sum
      bodyHash: '186dc8fc0e242063ee83710c5ce2c5494195a0143e97b62390e39c9159bab58f',
      bodySize: 6,
    }),
  ]);
});

test('one list of a client and three in all at a time, rejected before they are sent', async () => {
  const first = ['oa', 'erp', 'crm'].map((clientId) =>
    send('"HD-1"', { clientId, unfinished: true }),
  );
  await untilLookedUp(first.length);
  for (const clientId of ['oa', 'hr', 'nobody']) {
    const rejection = await send('"HD-1"', { clientId, secret: 'whatever' }).answer();
    expect(rejection).toMatchObject({
      status: 503,
      last: { reason: 'TOO_MANY_QUERIES', retryable: true },
    });
  }
  for (const { req, answer } of first) {
    req.end();
    expect((await answer()).last).toMatchObject({ code: 0 });
  }
  expect((await send('', { clientId: 'hr' }).answer()).last).toMatchObject({ code: 0 });
});

test('an id that nobody has is as busy as one that a client has, and takes no place of theirs', async () => {
  const ids = ['oa', 'nobody', 'no one', 'none', 'nil'];
  const first = ids.map((clientId) =>
    send('"HD-1"', { clientId, secret: 'whatever', unfinished: true }),
  );
  await untilLookedUp(first.length);
  for (const clientId of ids) {
    const { last } = await send('"HD-1"', { clientId, secret: 'whatever' }).answer();
    expect(last).toMatchObject({ code: 503, reason: 'TOO_MANY_QUERIES' });
  }
  expect((await send('', { clientId: 'hr' }).answer()).last).toMatchObject({ code: 0 });
  for (const { req, answer } of first) {
    req.end();
    expect((await answer()).last).toMatchObject({ code: 401, reason: 'SIGNATURE_MISMATCH' });
  }
  expect((await send('').answer()).last).toMatchObject({ code: 0 });
});

test('an upload that is broken off gives its place back and reads nothing', async () => {
  const { req } = send('"HD-1"', { unfinished: true });
  await untilLookedUp(1);
  req.destroy();
  await untilTaken();
  expect(ledger.reading).toBe(0);
});

test('an upload behind another answer that is broken off gives its place back', async () => {
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  ledger.pause = () => held;
  const { port } = app;
  const caller = await connectRaw(`http://127.0.0.1:${port}`);
  const unsigned = { clientId: 'oa', secret: 'whatever', body: '"HD-1"', sent: '"' };
  caller.send(rawPush({ clientId: 'erp', secret: 'secret', body: '' }) + rawPush(unsigned));
  await untilLookedUp(2);
  expect(await send('').answer()).toMatchObject({ status: 503 });
  caller.socket.resetAndDestroy();
  goOn();
  await untilTaken();
});

describe('while the answer is under way', () => {
  const broken = async (n: number) => {
    if (n === 1_200) throw new Error('the database is gone');
  };

  test('a failure before the first group is an answer like any other', async () => {
    ledger.pause = async () => Promise.reject(new Error('the database is gone'));
    const { status, last } = await send('').answer();
    expect({ status, ...last }).toMatchObject({ status: 503, reason: 'DATABASE_UNAVAILABLE' });
  });

  test('a later failure is the last line', async () => {
    Object.assign(ledger, { open: 5_000, pause: broken });
    const { status, rows, last } = await send('').answer();
    expect({ status, rows: rows.length }).toEqual({ status: 200, rows: 1_000 });
    expect(last).toMatchObject({ code: 503, reason: 'DATABASE_UNAVAILABLE', data: null });
  });

  test('a database that falls silent ends it after its time', async () => {
    let speak = () => {};
    const silence = new Promise<void>((resolve) => {
      speak = resolve;
    });
    const pause = (n: number) => {
      if (n !== 700) return undefined;
      return silence;
    };
    Object.assign(ledger, { open: 5_000, pause });
    timeout = 500;
    expect((await send('').answer()).last).toMatchObject({ reason: 'DATABASE_UNAVAILABLE' });
    speak();
    await untilClosed();
  });

  test('a process that stops says so', async () => {
    Object.assign(ledger, {
      open: 5_000,
      pause: async (n: number) => {
        if (n === 600)
          ready = () => {
            throw new PushError('SHUTTING_DOWN');
          };
      },
    });
    expect((await send('').answer()).last).toMatchObject({ code: 503, reason: 'SHUTTING_DOWN' });
    expect(ledger.reading).toBe(0);
  });

  test('a caller who goes leaves no read open, and may come again', async () => {
    Object.assign(ledger, { open: 2_000_000 });
    const { response } = send('');
    const res = await response;
    await new Promise((resolve) => res.once('data', resolve));
    expect(ledger.reading).toBe(1);
    res.destroy();
    await untilClosed();
    ledger.open = 3;
    expect((await send('').answer()).last).toMatchObject({ code: 0 });
  });

  test('a caller who is slow holds the read back', async () => {
    let read = 0;
    Object.assign(ledger, {
      open: 2_000_000,
      pause: async (n: number) => {
        read = n;
      },
    });
    const res = await send('').response;
    res.pause();
    // What fits into the buffers on the way is read ahead.
    for (let before = -1; before !== read; await sleep(500)) before = read;
    expect(read).toBeLessThan(500_000);
    expect(ledger.reading).toBe(1);
    res.destroy();
    await untilClosed();
  });
});
