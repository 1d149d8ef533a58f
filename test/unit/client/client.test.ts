/** The client against a server that fails, hangs, drops and asks to wait. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMatterPushClient, MatterPushError } from '../../../tools/client/matter-push-client';
import { holdDeadlines } from '../../support/deadlines';
import { todo } from '../../support/push-bodies';
import { type ClientOptions, clientOf } from '../../support/scripted-client';
import {
  drop,
  hang,
  ok,
  okWith,
  type Received,
  reject,
  SECRET,
  useScriptedServer,
} from '../../support/scripted-server';
import { until } from '../../support/wait';

const server = useScriptedServer();
const withClient = clientOf(server);

/** How a call failed. */
const failureOf = (call: Promise<unknown>): Promise<MatterPushError> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (error) => (error instanceof MatterPushError ? error : Promise.reject(error)),
  );
const received = (count: number) =>
  until(`${count} requests`, async () => server.received.length >= count);
const textsOf = (list: readonly Received[]) => [...new Set(list.map(({ text }) => text))];
const keysOf = (list: readonly Received[]) => [...new Set(list.map(({ key }) => key))];

describe('a call', () => {
  test('is signed over the bytes that are sent, on its own path, with a key', async () => {
    server.reply = ({ path }) =>
      path.includes('/matters/get')
        ? okWith({ matters: [], missing: ['A'] })
        : path.includes('/verify')
          ? okWith({ valid: true, externalId: 'A', warnings: [] })
          : ok;
    const body = todo('A', { title: '报销单 😀' });
    await withClient({}, async (client) => {
      const result = await client.upsert(body, { idempotencyKey: 'mine' });
      expect(result).toEqual({
        ...{ matterId: '7', externalId: 'A', outcome: 'UPDATED' },
        ...{ requestId: 'r1', replayed: false, tries: 1 },
      });
      await client.status({ externalId: 'A', bizStatus: 'DONE' });
      await client.reopen({ externalId: 'A' });
      await client.delete({ externalId: 'A' });
      await client.verify('delete', { externalId: 'A' });
      await client.query('matters/get', { externalIds: ['A'] });
    });
    expect(server.received.map(({ isSigned }) => isSigned)).toEqual(Array(6).fill(true));
    expect(server.received.map(({ path }) => path)).toEqual([
      '/api/open/matters/upsert',
      '/api/open/matters/status',
      '/api/open/matters/reopen',
      '/api/open/matters/delete',
      '/api/open/verify',
      '/api/open/matters/get',
    ]);
    const [first, second, third] = server.received;
    expect(first).toMatchObject({ text: JSON.stringify(body), key: 'mine' });
    expect(second?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(third?.key).not.toBe(second?.key);
    expect(server.received[4]).toMatchObject({
      text: '{"operation":"delete","push":{"externalId":"A"}}',
      key: undefined,
    });
  });

  test('sends bytes as they are, and a value as it was at the call', async () => {
    await withClient({}, async (client) => {
      const text = ' { "externalId" : "A",\n"n":1e2 } ';
      const bytes = Buffer.from(text);
      const first = client.push('status', bytes);
      bytes.fill(' ');
      await first;
      const body = { externalId: 'A', bizStatus: 'DONE' };
      const call = client.status(body);
      body.bizStatus = 'CHANGED';
      await call;
      expect(server.received.map((one) => one.text)).toEqual([
        text,
        '{"externalId":"A","bizStatus":"DONE"}',
      ]);
    });
  });

  test('goes through connections of the caller, which stay open', async () => {
    const agent = new Agent({ keepAlive: true });
    await withClient({ agent, url: `${server.url}/` }, (client) => client.upsert(todo('A')));
    expect(Object.keys(agent.freeSockets)).toHaveLength(1);
    agent.destroy();
  });

  test.each<[ClientOptions, string]>([
    [{ url: 'here' }, 'Invalid URL'],
    [{ url: 'ftp://portal' }, 'url must begin with http'],
    [{ url: 'http://portal?a=1' }, 'url must end with its path'],
    [{ clientId: '' }, 'clientId is empty'],
    [{ secret: '' }, 'secret is empty'],
    [{ timeout: 0 }, 'timeout must be'],
    [{ tryTimeout: Number.NaN }, 'tryTimeout must be'],
    [{ retries: -1 }, 'retries must be'],
    [{ concurrency: 0 }, 'concurrency must be'],
    [{ queue: -1 }, 'queue must be'],
  ])('an option that cannot work is told at once: %j', (option, message) => {
    const options = { url: server.url, clientId: 'erp', secret: SECRET, ...option };
    expect(() => createMatterPushClient(options)).toThrow(message);
  });

  test('no deadline at all is not one that has passed', async () => {
    const forever = { timeout: Number.POSITIVE_INFINITY, tryTimeout: Number.POSITIVE_INFINITY };
    const result = await withClient({ ...forever, retries: 0 }, (client) =>
      client.upsert(todo('A')),
    );
    expect(result.tries).toBe(1);
  });

  test('a clock that is set back holds nothing up', async () => {
    await withClient({ timeout: 120_000, retries: 0 }, async (client) => {
      const back = Date.now() - 3_600_000;
      const clock = jest.spyOn(Date, 'now').mockReturnValue(back);
      const result = await client.upsert(todo('A')).finally(() => clock.mockRestore());
      expect(result.tries).toBe(1);
    });
  });
});

describe('what is retryable is tried again', () => {
  test('with the same key and bytes, and a signature of its own', async () => {
    const troubles = [
      reject(503, 'DATABASE_UNAVAILABLE', true, { 'Retry-After': '1' }),
      drop,
      reject(504, 'CONFIRMATION_TIMEOUT', true),
      (response: Parameters<typeof ok>[0]) =>
        void response.writeHead(502).end('<html>bad gateway</html>'),
    ];
    server.reply = (_, nth) => troubles[nth - 1] ?? ok;
    const result = await withClient({}, (client) => client.upsert(todo('A')));
    expect(result.tries).toBe(5);
    expect(server.received).toHaveLength(5);
    expect(textsOf(server.received)).toHaveLength(1);
    expect(keysOf(server.received)).toHaveLength(1);
    expect(server.received.every(({ isSigned }) => isSigned)).toBe(true);
    const [first, second] = server.received;
    // Not before the service wants it, and signed anew.
    expect(Number(second?.at) - Number(first?.at)).toBeGreaterThanOrEqual(1_000);
    expect(Number(second?.timestamp)).toBeGreaterThan(Number(first?.timestamp));
  });

  test('and whoever wants to hear of it is told', async () => {
    server.reply = (_, nth) =>
      nth === 1 ? reject(503, 'CLIENT_PAUSED', true, { 'Retry-After': '1' }) : ok;
    const told: object[] = [];
    const onRetry = ({ reason, tries }: MatterPushError, wait: number) => {
      told.push({ reason, tries, isAsked: wait >= 1_000 && wait <= 1_400 });
    };
    await withClient({ onRetry }, (client) => client.upsert(todo('A')));
    expect(told).toEqual([{ reason: 'CLIENT_PAUSED', tries: 1, isAsked: true }]);
  });

  test('a connection that hangs is left after its time', async () => {
    server.reply = (_, nth) => (nth === 1 ? hang : ok);
    const result = await withClient({ tryTimeout: 500 }, (client) => client.upsert(todo('A')));
    // On a slow machine another one may take too long as well.
    expect(result.tries).toBeGreaterThan(1);
  });

  test('an answer that begins and does not end is left too', async () => {
    const half = (response: Parameters<typeof ok>[0]) => void response.writeHead(200).write('{');
    server.reply = (_, nth) => (nth === 1 ? half : ok);
    const result = await withClient({ tryTimeout: 500 }, (client) => client.upsert(todo('A')));
    // On a slow machine another one may take too long as well.
    expect(result.tries).toBeGreaterThan(1);
  });

  test('a signature that was used elsewhere: in another second', async () => {
    server.reply = (_, nth) => (nth === 1 ? reject(401, 'SIGNATURE_REUSED', true) : ok);
    await withClient({}, (client) => client.upsert(todo('A')));
    const [first, second] = server.received;
    expect(Number(second?.timestamp)).toBeGreaterThan(Number(first?.timestamp));
  });

  test('as often as allowed, and then the last rejection is the error', async () => {
    server.reply = () => reject(503, 'QUEUE_UNAVAILABLE', true, { 'Retry-After': '0' });
    const error = await withClient({ retries: 2 }, (client) =>
      failureOf(client.upsert(todo('A'), { idempotencyKey: 'k' })),
    );
    expect(server.received).toHaveLength(3);
    expect(error).toMatchObject({
      ...{ code: 503, reason: 'QUEUE_UNAVAILABLE', retryable: true, requestId: 'r1' },
      ...{ tries: 3, idempotencyKey: 'k', retryAfter: 0 },
    });
  });

  test('a time to wait may be a date', async () => {
    const date = new Date(Date.now() + 250_000).toUTCString();
    server.reply = () => reject(503, 'BACKLOG_FULL', true, { 'Retry-After': date });
    const error = await withClient({ retries: 0 }, (client) => failureOf(client.upsert(todo('A'))));
    // Less by the time that has passed meanwhile.
    expect(error.retryAfter).toBeGreaterThan(100_000);
    expect(error.retryAfter).toBeLessThanOrEqual(250_000);
  });

  test('429 is waited for by all, and costs no retries', async () => {
    let limitedAt = Number.POSITIVE_INFINITY;
    const others: (() => void)[] = [];
    server.reply = async ({ id }, nth) => {
      if (id === 'K2' && nth === 1) {
        limitedAt = Date.now();
        return reject(429, 'RATE_LIMITED', true, { 'Retry-After': '1' });
      }
      // Those that are under way with it are answered once it may have been heard of.
      if (limitedAt > Date.now()) await new Promise<void>((answer) => others.push(answer));
      return ok;
    };
    const all = withClient({ concurrency: 4, retries: 0 }, (client) =>
      Promise.all(Array.from({ length: 20 }, (_, n) => client.upsert(todo(`K${n}`)))),
    );
    await until('four at a time', async () => server.received.length === 4);
    await sleep(200);
    for (const answer of others) answer();
    await all;
    expect(server.received).toHaveLength(21);
    const during = server.received.filter(({ at }) => at > limitedAt && at < limitedAt + 950);
    // Those that were under way may have come after it.
    expect(during.length).toBeLessThanOrEqual(3);
  });
});

describe('what is not retryable is told at once', () => {
  test('with everything that the service said', async () => {
    const errors = [{ field: 'title', message: '不能为空' }];
    server.reply = () => reject(400, 'VALIDATION_FAILED', false, {}, { errors });
    const error = await withClient({}, (client) => failureOf(client.upsert(todo('A'))));
    expect(error).toMatchObject({
      ...{ name: 'MatterPushError', code: 400, reason: 'VALIDATION_FAILED', retryable: false },
      ...{ requestId: 'r1', errors, tries: 1, message: 'no (title: 不能为空)' },
    });
    expect(server.received).toHaveLength(1);
  });

  test('also what cannot be sent', async () => {
    const error = await withClient({}, (client) =>
      failureOf(client.upsert(todo('A'), { idempotencyKey: '键' })),
    );
    expect(error).toMatchObject({ code: 0, reason: 'ERR_INVALID_CHAR', retryable: false });
    expect(server.received).toHaveLength(0);
  });

  test.each([
    { code: 0 },
    { code: 0, msg: 'ok', data: null, requestId: 'g1' },
    { code: 0, data: { outcome: 'CREATED' } },
    // The form of the envelope, and nothing that a confirmation has.
    { code: 0, requestId: 'g1', timestamp: '2026-01-01T00:00:00Z', data: {} },
    { code: 0, requestId: 'g1', timestamp: '2026-01-01T00:00:00Z', data: { outcome: 'CREATED' } },
    // A gateway has codes, too.
    { code: 401, requestId: 'g1', message: 'token missing' },
  ])('also where something else answers with %j: nothing was confirmed', async (body) => {
    server.reply = () => (response) => void response.writeHead(200).end(JSON.stringify(body));
    const error = await withClient({}, (client) => failureOf(client.upsert(todo('A'))));
    expect(error).toMatchObject({ code: 200, reason: 'HTTP_200', retryable: false });
  });

  test('also where the answer is of something else', async () => {
    server.reply = () => (response) => void response.writeHead(404).end('<html>nothing</html>');
    const error = await withClient({}, (client) => failureOf(client.upsert(todo('A'))));
    expect(error).toMatchObject({ code: 404, reason: 'HTTP_404', retryable: false });
    expect(error.message).toContain('is not one of Matter Push: status 404, <html>nothing');
  });
});

describe('the deadline', () => {
  const timeout = 299_000;
  afterEach(() => void jest.restoreAllMocks());

  test('is over all tries; where one was under way, nobody knows', async () => {
    server.reply = (_, nth) => (nth === 1 ? drop : hang);
    const endDeadlines = holdDeadlines(timeout);
    const error = await withClient({ timeout }, async (client) => {
      const failed = failureOf(client.upsert(todo('A')));
      await received(2);
      endDeadlines();
      return failed;
    });
    expect(error).toMatchObject({
      code: 0,
      reason: 'NO_ANSWER_IN_TIME',
      retryable: true,
      tries: 2,
    });
    expect(error.cause).toMatchObject({ reason: 'ECONNRESET', tries: 1 });
    await server.received[1]?.gone;
  });

  test('a wait beyond it is not begun', async () => {
    server.reply = () => reject(503, 'BACKLOG_FULL', true, { 'Retry-After': '100000' });
    const error = await withClient({ timeout }, (client) => failureOf(client.upsert(todo('A'))));
    // Bounded, whatever the service asks for.
    expect(error).toMatchObject({ reason: 'BACKLOG_FULL', tries: 1, retryAfter: 300_000 });
  });

  test('holds for those that wait for their turn; what comes behind goes on', async () => {
    server.reply = ({ text }) => (text.includes('first') ? hang : ok);
    const endDeadlines = holdDeadlines(timeout);
    await withClient({ timeout }, async (client) => {
      const first = failureOf(client.push('status', { externalId: 'A', n: 'first' }));
      const second = failureOf(client.push('status', { externalId: 'A', n: 'second' }));
      await received(1);
      endDeadlines();
      expect(await second).toMatchObject({ reason: 'NO_ANSWER_IN_TIME' });
      expect(await first).toMatchObject({ reason: 'NO_ANSWER_IN_TIME', tries: 1 });
      expect(await client.status({ externalId: 'A' })).toMatchObject({ tries: 1 });
    });
  });
});

describe('a signal', () => {
  test('ends a try that is under way, a wait between tries, and a wait for the turn', async () => {
    await withClient({}, async (client) => {
      const [one, two, three] = [0, 1, 2].map(() => new AbortController());
      server.reply = ({ id }) =>
        id === 'HANG' ? hang : reject(503, 'BACKLOG_FULL', true, { 'Retry-After': '60' });
      const hanging = failureOf(client.upsert(todo('HANG'), { signal: one?.signal }));
      const behind = failureOf(client.upsert(todo('HANG'), { signal: two?.signal }));
      const between = failureOf(client.upsert(todo('BETWEEN'), { signal: three?.signal }));
      await received(2);
      two?.abort();
      expect(await behind).toMatchObject({ reason: 'ABORTED', tries: 0 });
      three?.abort();
      expect(await between).toMatchObject({ reason: 'ABORTED', tries: 1 });
      one?.abort();
      expect(await hanging).toMatchObject({ reason: 'ABORTED', tries: 1, retryable: true });
      await server.received.find(({ id }) => id === 'HANG')?.gone;
    });
    expect(server.received).toHaveLength(2);
  });

  test('that came before the call lets nothing be sent', async () => {
    const signal = AbortSignal.abort();
    const error = await withClient({}, (client) => failureOf(client.upsert(todo('A'), { signal })));
    expect(error.reason).toBe('ABORTED');
    expect(server.received).toHaveLength(0);
  });
});

describe('order', () => {
  test('of one matter is that of the calls, one under way; others side by side, up to a bound', async () => {
    const underWay: string[] = [];
    const twice: string[] = [];
    let most = 0;
    let fill = () => {};
    const full = new Promise<void>((resolve) => {
      fill = resolve;
    });
    server.reply = async ({ id }, nth) => {
      if (underWay.includes(id)) twice.push(id);
      underWay.push(id);
      most = Math.max(most, underWay.length);
      // Nobody is answered before four are there: they have to come side by side.
      if (underWay.length === 4) fill();
      await full;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
      underWay.splice(underWay.indexOf(id), 1);
      return nth === 1 && Math.random() < 0.2 ? drop : ok;
    };
    const total = 120;
    await withClient({ concurrency: 4 }, (client) =>
      Promise.all(
        Array.from({ length: total }, (_, n) => {
          const body = { externalId: `K${n % 9}`, n };
          return client.push('status', n % 2 ? body : Buffer.from(JSON.stringify(body)));
        }),
      ),
    );
    expect(twice).toEqual([]);
    expect(most).toBe(4);
    const firsts = server.received.filter(
      ({ key }, at) => server.received.findIndex((one) => one.key === key) === at,
    );
    expect(firsts).toHaveLength(total);
    for (let id = 0; id < 9; id += 1) {
      const order = server.received
        .filter((one) => one.id === `K${id}`)
        .map(({ text }) => JSON.parse(text).n);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
  });

  test('who hears of a failure may still take back what comes behind it', async () => {
    server.reply = () => reject(400, 'UNKNOWN_USER', false);
    await withClient({}, async (client) => {
      const rest = new AbortController();
      const first = client.upsert(todo('A')).catch(() => rest.abort());
      const second = failureOf(client.upsert(todo('A'), { signal: rest.signal }));
      await first;
      expect(await second).toMatchObject({ reason: 'ABORTED', tries: 0 });
    });
    expect(server.received).toHaveLength(1);
  });

  test('no more wait than the queue holds', async () => {
    server.reply = () => hang;
    await withClient({ queue: 2, concurrency: 1 }, async (client) => {
      const rest = new AbortController();
      const { signal } = rest;
      const calls = ['A', 'B', 'C'].map((id) => failureOf(client.upsert(todo(id), { signal })));
      const over = await failureOf(client.upsert(todo('D'), { idempotencyKey: 'k' }));
      expect(over).toMatchObject({ reason: 'QUEUE_FULL', retryable: true, idempotencyKey: 'k' });
      await received(1);
      rest.abort();
      for (const call of calls) expect((await call).reason).toBe('ABORTED');
    });
    expect(server.received).toHaveLength(1);
  });
});

describe('the end of a client', () => {
  test('drain waits for every call, with its retries', async () => {
    server.reply = (_, nth) => (nth === 1 ? drop : ok);
    await withClient({}, async (client) => {
      const settled: string[] = [];
      for (const id of ['A', 'A', 'B']) {
        void client.upsert(todo(id)).then(() => settled.push(id));
      }
      await client.drain();
      expect(settled.sort()).toEqual(['A', 'A', 'B']);
    });
  });

  test('close lets what is under way be answered, begins nothing, and takes nothing more', async () => {
    let release = () => {};
    server.reply = async ({ id }) => {
      if (id !== 'A') return reject(503, 'BACKLOG_FULL', true, { 'Retry-After': '60' });
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return ok;
    };
    const client = createMatterPushClient({ url: server.url, clientId: 'erp', secret: SECRET });
    const [first, behind] = [client.upsert(todo('A')), failureOf(client.upsert(todo('A')))];
    const waiting = failureOf(client.upsert(todo('B')));
    await received(2);
    const closed = client.close();
    expect(await behind).toMatchObject({ reason: 'CLOSED', tries: 0 });
    expect(await waiting).toMatchObject({ reason: 'CLOSED' });
    expect(await failureOf(client.upsert(todo('C')))).toMatchObject({ reason: 'CLOSED', tries: 0 });
    release();
    expect(await first).toMatchObject({ outcome: 'UPDATED' });
    await closed;
    await client.close();
    expect(server.received).toHaveLength(2);
  });
});
