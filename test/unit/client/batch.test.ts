/** Batches of the client against a server that fails, drops and answers in part. */
import { getEventListeners } from 'node:events';
import { createMatterPushClient, MatterPushError } from '../../../tools/client/matter-push-client';
import { holdDeadlines } from '../../support/deadlines';
import { type Client, clientOf } from '../../support/scripted-client';
import {
  drop,
  hang,
  ok,
  okWith,
  type Reply,
  reject,
  SECRET,
  useScriptedServer,
} from '../../support/scripted-server';
import { until } from '../../support/wait';

const server = useScriptedServer();
const withClient = clientOf(server);
afterEach(() => void jest.restoreAllMocks());

const status = (externalId: string, n = 0) => {
  return { operation: 'status', body: { externalId, n } } as const;
};
const many = (count: number, idOf = (n: number) => `K${n}`) =>
  Array.from({ length: count }, (_, n) => status(idOf(n), n));
const failures = (results: readonly object[]) =>
  results.flatMap((result, index) =>
    result instanceof MatterPushError ? [[index, result.reason]] : [],
  );
/** `n` of the requests of a matter, in the order in which they came. */
const orderOf = (id: string) =>
  server.received.filter((one) => one.id === id).map(({ text }) => JSON.parse(text).n);
const isLine =
  (n: number) =>
  ({ text }: { text: string }) =>
    JSON.parse(text).n === n;
const BUSY = { 'Retry-After': '0' };
const away = reject(503, 'DATABASE_UNAVAILABLE', true, BUSY);
const skipped = reject(503, 'SKIPPED_AFTER_FAILURE', true, BUSY);

test('a key with a blank at an end, which would be another one alone than in a batch, is not sent', async () => {
  const results = await withClient({}, (client) =>
    client.batch([
      { ...status('A'), idempotencyKey: 'k ' },
      status('B'),
      { ...status('C'), idempotencyKey: ' k' },
    ]),
  );
  const rejected = { code: 0, reason: 'INVALID_KEY', retryable: false, tries: 0 };
  const errors = [{ field: 'idempotencyKey', message: expect.stringContaining('blank') }];
  expect(results).toMatchObject([{ ...rejected, errors }, { tries: 1 }, { ...rejected, errors }]);
  expect(server.received.map(({ id }) => id)).toEqual(['B']);
  const single = withClient({}, (client) =>
    client.status({ externalId: 'D', bizStatus: 'DONE' }, { idempotencyKey: ' k' }),
  );
  await expect(single).rejects.toMatchObject(rejected);
  expect(server.received).toHaveLength(1);
});

test('lines that are to be sent again wait as long as the answer says', async () => {
  const full = reject(503, 'PARTITION_FULL', true, { 'Retry-After': '1' });
  server.reply = ({ id }, nth) => (id === 'B' && nth === 1 ? full : ok);
  const results = await withClient({}, (client) => client.batch([status('A'), status('B')]));
  expect(failures(results)).toEqual([]);
  const [first, second] = server.received.filter(({ id }) => id === 'B');
  expect(Number(second?.at) - Number(first?.at)).toBeGreaterThanOrEqual(1_000);
});

describe('batch', () => {
  test('is one signed request, each push with a key, each result in its place', async () => {
    server.reply = ({ id }) => (id === 'B' ? reject(400, 'UNKNOWN_USER', false) : ok);
    const results = await withClient({}, (client) =>
      client.batch([status('A'), { ...status('B'), idempotencyKey: 'mine' }, status('A', 1)]),
    );
    expect(server.batches).toHaveLength(1);
    expect(server.received.every(({ isSigned }) => isSigned)).toBe(true);
    expect(server.received.map(({ key }) => key)).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      'mine',
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ]);
    expect(results).toEqual([
      {
        ...{ matterId: '7', externalId: 'A', outcome: 'UPDATED' },
        ...{ requestId: 'r1', replayed: false, tries: 1 },
      },
      expect.any(MatterPushError),
      expect.objectContaining({ outcome: 'UPDATED' }),
    ]);
    expect(results[1]).toMatchObject({
      ...{ code: 400, reason: 'UNKNOWN_USER', retryable: false, tries: 1, idempotencyKey: 'mine' },
    });
  });

  test('no push is no request; one is a push of its own', async () => {
    await withClient({}, async (client) => {
      expect(await client.batch([])).toEqual([]);
      expect(await client.batch([status('A')])).toMatchObject([{ outcome: 'UPDATED' }]);
    });
    expect(server.batches).toEqual([]);
    expect(server.received.map(({ path }) => path)).toEqual(['/api/open/matters/status']);
  });

  test('bytes stand in a line as they are, without their line ends; what is no JSON goes alone', async () => {
    const bytes = Buffer.from('{"externalId":\r\n"A", "n" : 1e2}');
    const two = Buffer.from('{"externalId":"B"}\n{"x":1}');
    server.reply = ({ text }) => (text === String(two) ? reject(400, 'INVALID_JSON', false) : ok);
    const results = await withClient({}, (client) =>
      client.batch([
        { operation: 'status', body: bytes },
        { operation: 'status', body: two },
        status('C'),
      ]),
    );
    expect(failures(results)).toEqual([[1, 'INVALID_JSON']]);
    expect(server.batches.map((lines) => lines.map(({ id }) => id))).toEqual([['A', 'C']]);
    const line = '"body":{"externalId":  "A", "n" : 1e2}}';
    expect(server.batches[0]?.[0]?.line).toMatch(new RegExp(`^{"op":"status",.*${line}$`));
  });

  test('bytes with blanks at their ends are the same body alone as in a line, where the service drops those', async () => {
    const push = {
      operation: 'status',
      body: Buffer.from('\n\t {"externalId":"A"} \t\r\n'),
    } as const;
    server.replyToBatch = (_, nth) => (nth === 1 ? drop : undefined);
    const results = await withClient({}, (client) => client.batch([push, status('B')]));
    expect(failures(results)).toEqual([]);
    expect(server.batches[0]?.[0]?.line).toMatch(/"body":{"externalId":"A"}}$/);
    const alone = server.received.filter(({ id, line }) => id === 'A' && line === undefined);
    expect(alone.map(({ text }) => text)).toEqual(['{"externalId":"A"}']);
  });

  test.each([{}, { autoBatch: true }])(
    'a body that is no JSON value: nothing is sent, nothing is left (%j)',
    async (options) => {
      await withClient(options, async (client) => {
        const { signal } = new AbortController();
        const noJson = { operation: 'status', body: Buffer.from('{') } as const;
        const noValue = { operation: 'status', body: { externalId: 'B', n: 1n } } as const;
        const batch = client.batch([status('A'), noJson, noValue], { signal });
        await expect(batch).rejects.toThrow(TypeError);
        const alone = client.push(noValue.operation, noValue.body, { signal });
        await expect(alone).rejects.toThrow(TypeError);
        expect(getEventListeners(signal, 'abort')).toEqual([]);
        await client.drain();
      });
      expect(server.received).toEqual([]);
    },
  );

  test('of a matter all goes in order, however many batches it takes', async () => {
    const results = await withClient({}, (client) => client.batch(many(950, (n) => `K${n % 7}`)));
    expect(failures(results)).toEqual([]);
    expect(server.received).toHaveLength(950);
    expect(Math.max(...server.batches.map(({ length }) => length))).toBeLessThanOrEqual(200);
    for (let id = 0; id < 7; id += 1) {
      const order = orderOf(`K${id}`);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
  });

  test('and with the single pushes before and after it', async () => {
    await withClient({}, async (client) => {
      const before = client.push('status', { externalId: 'A', n: 0 });
      const batch = client.batch([status('A', 1), status('A', 2)]);
      const after = client.push('status', { externalId: 'A', n: 3 });
      await Promise.all([before, batch, after]);
    });
    expect(orderOf('A')).toEqual([0, 1, 2, 3]);
  });

  test('a key that stands twice is sent in two batches', async () => {
    const twice = { ...status('A', 1), idempotencyKey: 'k' };
    await withClient({}, (client) => client.batch([twice, status('B'), twice]));
    expect(server.batches.map(({ length }) => length)).toEqual([2]);
    expect(server.received.map(({ key }) => key).filter((key) => key === 'k')).toHaveLength(2);
  });
});

describe('what is retryable is sent again', () => {
  test.each<[string, Reply]>([
    ['a connection that breaks', drop],
    ['a 503 of all', away],
    ['an answer that is cut', (response) => void response.writeHead(207).end('{"code":207,"da')],
    ['a gateway', (response) => void response.writeHead(502).end('<html>')],
    ['an answer without its lines', okWith({ results: [] })],
  ])('after %s, with the same keys and bytes, signed anew', async (_name, trouble) => {
    server.replyToBatch = (_, nth) => (nth === 1 ? trouble : undefined);
    const results = await withClient({}, (client) => client.batch(many(5)));
    expect(failures(results)).toEqual([]);
    const [first, ...rest] = server.batches;
    const again = rest.flat();
    expect(again).toHaveLength(5);
    const texts = (list: typeof again = []) => list.map(({ key, text }) => `${key} ${text}`).sort();
    const alone = server.received.filter(({ path }) => !again.some((line) => line.path === path));
    expect(texts([...again, ...alone]).sort()).toEqual(texts(first));
    expect(server.received.every(({ isSigned }) => isSigned)).toBe(true);
  });

  test('of a 207 only what failed, and of a matter never a later push before an earlier one', async () => {
    // The second push of A fails for want of a server, and the service skips the third.
    server.reply = (push, nth) => {
      if (nth > 1 || push.id !== 'A') return ok;
      if (isLine(1)(push)) return away;
      return isLine(2)(push) ? skipped : ok;
    };
    const pushes = [status('A', 0), status('A', 1), status('B', 9), status('A', 2), status('A', 3)];
    // The fourth one comes in another batch, and waits for those before it.
    const results = await withClient({ autoBatch: { maxItems: 4 } }, (client) =>
      client.batch(pushes),
    );
    expect(failures(results)).toEqual([]);
    expect(orderOf('A')).toEqual([0, 1, 2, 1, 2, 3]);
    expect(orderOf('B')).toEqual([9]);
    expect(results.map((result) => result.tries)).toEqual([1, 2, 1, 2, 1]);
  });

  test('each by its own count: skipping costs no try', async () => {
    server.reply = (push) => (push.id !== 'A' ? ok : isLine(0)(push) ? away : skipped);
    let [first, second] = [0, 0];
    server.reply = (push) => {
      if (push.id !== 'A') return ok;
      if (isLine(0)(push)) {
        first += 1;
        return away;
      }
      second += 1;
      return first > second - 1 && first < 3 ? skipped : ok;
    };
    const results = await withClient({ retries: 2 }, (client) =>
      client.batch([status('A', 0), status('A', 1), status('B')]),
    );
    expect(failures(results)).toEqual([[0, 'DATABASE_UNAVAILABLE']]);
    expect(first).toBe(3);
  });

  test('429 is waited for by all, and costs no retries', async () => {
    server.replyToBatch = (_, nth) =>
      nth === 1 ? reject(429, 'RATE_LIMITED', true, { 'Retry-After': '1' }) : undefined;
    const told: string[] = [];
    const onRetry = ({ reason }: MatterPushError) => void told.push(reason);
    const results = await withClient({ retries: 0, onRetry }, (client) => client.batch(many(3)));
    expect(failures(results)).toEqual([]);
    expect(told).toEqual(Array(3).fill('RATE_LIMITED'));
  });

  test('what backs off counts among those that wait: the queue of the client is bounded', async () => {
    const slow = reject(503, 'DATABASE_UNAVAILABLE', true, { 'Retry-After': '60' });
    server.replyToBatch = () => slow;
    let retries = 0;
    const onRetry = () => {
      retries += 1;
    };
    await withClient({ queue: 3, onRetry }, async (client) => {
      const stop = new AbortController();
      const { signal } = stop;
      const batch = client.batch(many(3), { signal });
      await until('it to back off', async () => retries === 3);
      await expect(client.batch([status('A'), status('B')])).rejects.toMatchObject({
        reason: 'QUEUE_FULL',
      });
      stop.abort();
      expect(failures(await batch)).toHaveLength(3);
      server.replyToBatch = () => undefined;
      expect(failures(await client.batch(many(2)))).toEqual([]);
    });
  });

  test('what fails is the error of its push after its retries, and the deadline is that of all', async () => {
    server.replyToBatch = () => away;
    const results = await withClient({ retries: 1 }, (client) => client.batch(many(2)));
    expect(results).toMatchObject(Array(2).fill({ reason: 'DATABASE_UNAVAILABLE', tries: 2 }));
    server.replyToBatch = () => hang;
    const before = server.batches.length;
    const timeout = 299_000;
    const endDeadlines = holdDeadlines(timeout);
    const late = await withClient({ timeout }, async (client) => {
      const batch = client.batch(many(2));
      await until('the batch', async () => server.batches.length > before);
      endDeadlines();
      return batch;
    });
    expect(late).toMatchObject(Array(2).fill({ reason: 'NO_ANSWER_IN_TIME', tries: 1 }));
  });
});

describe('one push spoils no other', () => {
  const isBad = ({ id }: { id: string }) => id === 'K11';

  test.each<[string, Reply, string]>([
    ['breaks connections', drop, 'ECONNRESET'],
    [
      'is blocked by a gateway',
      (response) => void response.writeHead(403).end('<html>'),
      'HTTP_403',
    ],
    ['makes a batch too large', reject(413, 'BODY_TOO_LARGE', false), 'BODY_TOO_LARGE'],
  ])('that %s', async (_name, trouble, reason) => {
    server.replyToBatch = (lines) => (lines.some(isBad) ? trouble : undefined);
    server.reply = (push) => (isBad(push) ? trouble : ok);
    const results = await withClient({ retries: 1 }, (client) => client.batch(many(20)));
    expect(failures(results)).toEqual([[11, reason]]);
  });

  test('a service that takes fewer lines gets fewer, one that takes no batches none', async () => {
    const tooMany = reject(413, 'TOO_MANY_LINES', false);
    server.replyToBatch = (lines) => (lines.length > 60 ? tooMany : undefined);
    expect(failures(await withClient({}, (client) => client.batch(many(250))))).toEqual([]);
    server.batches.length = 0;
    server.received.length = 0;
    server.replyToBatch = () => reject(404, 'PATH_NOT_FOUND', false);
    expect(failures(await withClient({}, (client) => client.batch(many(30))))).toEqual([]);
    expect(server.batches).toHaveLength(1);
    expect(server.received).toHaveLength(30);
  });

  test.each<[string, Reply]>([
    ['is not answered in time', hang],
    ['did not arrive in time', reject(408, 'REQUEST_TIMEOUT', true, BUSY)],
  ])('what %s is sent in smaller batches from then on', async (_name, trouble) => {
    server.replyToBatch = (lines) => (lines.length > 10 ? trouble : undefined);
    const options = { concurrency: 1, tryTimeout: 150, autoBatch: { maxItems: 40 } };
    const results = await withClient(options, (client) => client.batch(many(240)));
    expect(failures(results)).toEqual([]);
    // Each as often as it takes to find out what goes; none of the six of 40 after the first one.
    expect(server.batches.filter(({ length }) => length > 20)).toHaveLength(1);
  });

  test('what is too large for a gateway is sent in smaller batches from then on', async () => {
    const bytesOf = (lines: readonly { text: string }[]) =>
      lines.reduce((sum, { text }) => sum + text.length, 0);
    const tooLarge: Reply = (response) => void response.writeHead(413).end('<html>');
    server.replyToBatch = (lines) => (bytesOf(lines) > 20_000 ? tooLarge : undefined);
    const pushes = many(300).map((push) => ({
      ...push,
      body: { ...push.body, filler: 'x'.repeat(500) },
    }));
    const results = await withClient({ concurrency: 1 }, (client) => client.batch(pushes));
    expect(failures(results)).toEqual([]);
    expect(server.batches.filter((lines) => bytesOf(lines) > 20_000).length).toBeLessThanOrEqual(4);
  });

  test.each([
    [401, 'SIGNATURE_MISMATCH'],
    [403, 'CLIENT_DISABLED'],
  ])('but %i %s is that of all', async (code, reason) => {
    server.replyToBatch = () => reject(code, reason, false);
    const results = await withClient({}, (client) => client.batch(many(3)));
    expect(results).toMatchObject(Array(3).fill({ code, reason, tries: 1 }));
    expect(server.batches).toHaveLength(1);
  });
});

describe('a call that is given up', () => {
  test('ends all its pushes, under way and waiting; those of others go on', async () => {
    server.replyToBatch = (_, nth) => (nth === 1 ? hang : undefined);
    await withClient({ autoBatch: { maxItems: 2 }, concurrency: 1 }, async (client) => {
      const stop = new AbortController();
      const given = client.batch(many(5), { signal: stop.signal });
      await until('the first batch', async () => server.batches.length === 1);
      const other = client.batch([status('K0'), status('K4')]);
      stop.abort();
      const tries = (await given).map((result) => [
        result instanceof MatterPushError && result.reason,
        result.tries,
      ]);
      expect(tries).toEqual([1, 1, 0, 0, 0].map((count) => ['ABORTED', count]));
      expect(failures(await other)).toEqual([]);
    });
  });

  test('close lets what is under way be answered, and begins nothing', async () => {
    let release = () => {};
    server.reply = async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return ok;
    };
    const to = { url: server.url, clientId: 'erp', secret: SECRET, concurrency: 1 };
    const client = createMatterPushClient({ ...to, autoBatch: { maxItems: 2 } });
    const all = client.batch([status('A', 0), status('A', 1), status('A', 2)]);
    await until('the first batch', async () => server.received.length === 1);
    const closed = client.close();
    const free = setInterval(() => release(), 5);
    const results = await all;
    clearInterval(free);
    expect(failures(results)).toEqual([[2, 'CLOSED']]);
    await closed;
    await expect(client.batch([status('A')])).rejects.toMatchObject({ reason: 'CLOSED' });
  });

  test('what onRetry throws, the call fails with', async () => {
    server.replyToBatch = () => away;
    const onRetry = () => {
      throw new Error('mine');
    };
    const batch = withClient({ onRetry }, (client) => client.batch(many(3)));
    await expect(batch).rejects.toThrow('mine');
  });
});

describe('autoBatch', () => {
  const calls = (client: Client, count: number) =>
    Promise.allSettled(many(count, (n) => `K${n % 9}`).map(({ body }) => client.status(body)));

  test('gathers single calls; each has its own result, and of a matter they keep their order', async () => {
    server.reply = (push) => (isLine(5)(push) ? reject(404, 'MATTER_NOT_FOUND', false) : ok);
    const results = await withClient({ autoBatch: true }, (client) => calls(client, 300));
    const failed = results.flatMap((result, n) => (result.status === 'rejected' ? [n] : []));
    expect(failed).toEqual([5]);
    expect(results[5]).toMatchObject({ reason: { reason: 'MATTER_NOT_FOUND', tries: 1 } });
    expect(results[6]).toMatchObject({ value: { outcome: 'UPDATED', tries: 1 } });
    expect(server.batches.length).toBeLessThanOrEqual(4);
    expect(server.received).toHaveLength(300);
    for (let id = 0; id < 9; id += 1) {
      const order = orderOf(`K${id}`);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
  });

  test('a call that finds no other goes alone, and a signal ends it while it waits', async () => {
    await withClient({ autoBatch: { maxWait: 20 } }, async (client) => {
      expect(await client.status({ externalId: 'A' })).toMatchObject({ tries: 1 });
      const stop = new AbortController();
      const call = client.status({ externalId: 'B' }, { signal: stop.signal });
      stop.abort();
      await expect(call).rejects.toMatchObject({ reason: 'ABORTED', tries: 0 });
      await client.drain();
    });
    expect(server.received.map(({ path }) => path)).toEqual(['/api/open/matters/status']);
  });

  test('queries do not wait for pushes, nor do they go in batches', async () => {
    server.reply = ({ path }) => (path.endsWith('/get') ? okWith({ matters: [] }) : ok);
    await withClient({ autoBatch: true }, async (client) => {
      const [push] = await Promise.all([
        client.status({ externalId: 'A' }),
        client.query('matters/get', { externalIds: ['A'] }),
      ]);
      expect(push.outcome).toBe('UPDATED');
    });
    expect(server.batches).toEqual([]);
  });

  test.each([{ maxItems: 0 }, { maxItems: 1_001 }, { maxWait: -1 }])(
    '%j is no option',
    (autoBatch) => {
      const to = { url: server.url, clientId: 'erp', secret: SECRET };
      expect(() => createMatterPushClient({ ...to, autoBatch })).toThrow('autoBatch.max');
    },
  );
});

test.each<[string, Reply]>([
  ['a redirect', (response) => void response.writeHead(301, { Location: '/x' }).end()],
  ['a page', (response) => void response.writeHead(200).end('<html>')],
  ['nothing', (response) => void response.writeHead(404).end('<html>')],
])(
  'an address with %s is asked once a batch: no halves, no single pushes',
  async (_what, answer) => {
    server.reply = () => answer;
    server.replyToBatch = () => answer;
    const results = await withClient({}, (client) => client.batch(many(2_000)));
    expect(failures(results)).toHaveLength(2_000);
    expect(server.batches).toHaveLength(10);
    expect(server.received).toHaveLength(0);
  },
);
