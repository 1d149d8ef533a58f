/** matterctl doctor: the way of a client to a running service, and what may stand in it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { matterModel } from '../../../src/storage/ledger/matters';
import { CHECKS, type Check } from '../../../tools/matterctl/doctor/check';
import { matterctl } from '../../support/cli-tool';
import { untilKnown } from '../../support/known-client';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

/** What a gateway does with what passes through it. */
interface Gateway {
  readonly headers?: (headers: IncomingHttpHeaders) => IncomingHttpHeaders;
  readonly body?: (text: string) => string;
  readonly date?: () => string;
  /** Of an answer. */
  readonly back?: (text: string) => string;
  /** Answers itself where it gives a text. */
  readonly answer?: (url: string) => string | undefined;
}

let service: SharedService;
let folder: string;
let gateway: Server | undefined;
beforeAll(async () => {
  service = await sharedService();
  folder = mkdtempSync(path.join(tmpdir(), 'matter-push-doctor-'));
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => {
  gateway?.closeAllConnections();
  gateway?.close();
  gateway = undefined;
});

const secretFile = (secret = service.secret) => {
  const file = path.join(folder, 'secret');
  writeFileSync(file, `${secret}\n`);
  return file;
};
const run = (url: string, clientId = service.clientId, secret?: string, ...more: string[]) => {
  const args = ['--url', url, '--client-id', clientId, '--secret-file', secretFile(secret)];
  return matterctl(['doctor', ...args, ...more]);
};
const examine = async (...args: Parameters<typeof run>) => {
  const [url, clientId, secret] = args;
  const { stdout, exitCode } = await run(url, clientId, secret, '--json');
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  expect(exitCode).toBe(ok ? 0 : 1);
  return checks;
};
const statusOf = (checks: readonly Check[]) =>
  Object.fromEntries(checks.map(({ check, status }) => [check, status]));
const failuresOf = (checks: readonly Check[]) =>
  checks.filter(({ status }) => status === 'failed').map(({ check }) => check);
/** All that the doctor ever pushed. */
const made = () => matterModel(service.db).countDocuments({ externalId: /^matterctl-doctor-/ });
/** Of that, what is still alive. */
const alive = () =>
  matterModel(service.db).countDocuments({ externalId: /^matterctl-doctor-/, deletedAt: null });

async function through({ headers, body, date, back: rewritten, answer }: Gateway): Promise<string> {
  gateway = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const own = answer?.(req.url ?? '');
    if (own !== undefined) {
      res.end(own);
      return;
    }
    const came = Buffer.concat(chunks).toString();
    const sent = Buffer.from(body ? body(came) : came);
    const all = { ...req.headers, 'content-length': String(sent.length) };
    const passed = headers ? headers(all) : all;
    const onward = request(
      service.urlOf() + req.url,
      { method: req.method, headers: passed },
      (back) => {
        const given = date ? { ...back.headers, date: date() } : back.headers;
        if (!rewritten) {
          res.writeHead(back.statusCode ?? 500, given);
          back.pipe(res);
          return;
        }
        void text(back).then((answered) => {
          const bytes = Buffer.from(rewritten(answered));
          const all = { ...given, 'content-length': String(bytes.length) };
          res.writeHead(back.statusCode ?? 500, all).end(bytes);
        });
      },
    );
    onward.end(sent);
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  return `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
}

const without = (name: string) => (headers: IncomingHttpHeaders) => {
  const { [name]: _gone, ...rest } = headers;
  return rest;
};

test('all is well: every check passes, and the throw-away matter is deleted again', async () => {
  const checks = await examine(service.urlOf());
  expect(failuresOf(checks)).toEqual([]);
  expect(checks.map(({ check }) => check)).toEqual([
    ...['reachable', 'clock', 'headers', 'secret', 'client', 'service', 'body', 'round trip'],
  ]);
  expect(new Set(Object.values(statusOf(checks)))).toEqual(new Set(['ok']));
  expect(await made()).toBe(1);
  expect(await alive()).toBe(0);
});

test('in lines, without the secret', async () => {
  const { exitCode, stdout, stderr } = await run(
    service.urlOf(),
    service.clientId,
    'wrong-secret-of-mine',
  );
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^ok {7}reachable/m);
  expect(stdout).toMatch(/^failed {3}secret .*\n +fix: /m);
  expect(stdout).toMatch(/^skipped {2}round trip/m);
  expect(stderr).toBe('matterctl: 1 of 8 checks failed\n');
  expect(stdout).not.toContain('wrong-secret-of-mine');
});

test('nobody listens, or somebody else does', async () => {
  expect(statusOf(await examine('http://127.0.0.1:1'))).toMatchObject({
    ...{ reachable: 'failed', clock: 'skipped', 'round trip': 'skipped' },
  });
  const login = await through({ answer: () => '<html>please log in</html>' });
  const [first] = await examine(login);
  expect(first).toMatchObject({ check: 'reachable', status: 'failed' });
  expect(first?.detail).toContain('something else answers');
});

describe('the client', () => {
  test.each<[string, string, object]>([
    ['is disabled', 'client', { enabled: false }],
    ['has no system code', 'client', { systemCode: null }],
    ['is PUBLIC', 'client', { type: 'PUBLIC', secrets: [] }],
  ])('%s', async (what, failing, change) => {
    const clientId = `c-${what.replaceAll(' ', '-')}`;
    const keyRing = createKeyRing([String(service.env.SECRET_KEYS)]);
    const admin = createClientAdmin(service.db, keyRing, Date.now);
    const { secret } = await admin.create({ clientId, systemCode: 'DOC' });
    const clients = service.db.collection<{ _id: string }>('clients');
    await clients.updateOne({ _id: clientId }, { $set: change });
    await untilKnown({ url: service.urlOf(), clientId, secret: secret ?? '' });
    const checks = await examine(service.urlOf(), clientId, secret ?? '');
    expect(failuresOf(checks)).toEqual([failing]);
  });

  test('is paused: that is said, and nothing is left', async () => {
    const keyRing = createKeyRing([String(service.env.SECRET_KEYS)]);
    const admin = createClientAdmin(service.db, keyRing, Date.now);
    const { secret } = await admin.create({ clientId: 'c-paused', systemCode: 'DOC' });
    await admin.pause('c-paused', 'the night run');
    await untilKnown({ url: service.urlOf(), clientId: 'c-paused', secret: secret ?? '' });
    const checks = await examine(service.urlOf(), 'c-paused', secret ?? '');
    expect(failuresOf(checks)).toEqual(['round trip']);
    const [last] = checks.slice(-1);
    expect(last?.detail).toBe(
      'matters/upsert: an operator has paused its pushes; its queries are answered',
    );
  });

  test('is not known', async () => {
    expect(failuresOf(await examine(service.urlOf(), 'nobody-at-all'))).toEqual(['secret']);
  });
});

describe('a gateway', () => {
  test('whose own clock is off does no harm: the service’s counts', async () => {
    const url = await through({ date: () => new Date(Date.now() + 3_600_000).toUTCString() });
    expect(failuresOf(await examine(url))).toEqual([]);
  });

  test('behind which the clock, or ours, is off', async () => {
    const ahead = (answer: string) =>
      answer.replace(/(?<="timestamp":")[^"]+/, (time) =>
        new Date(Date.parse(time) + 3_600_000).toISOString(),
      );
    const url = await through({ back: ahead });
    // An answer that was under way for seconds tells the time less exactly.
    await until('an exact look', async () => {
      const checks = await examine(url);
      expect(failuresOf(checks)).toEqual(['clock']);
      const { detail } = checks.find(({ check }) => check === 'clock') ?? {};
      return /3(?:599|600|601) s behind/.test(String(detail));
    });
  });

  test('that sends the timestamp late', async () => {
    const url = await through({ headers: (all) => ({ ...all, 'x-timestamp': '1700000000' }) });
    expect(failuresOf(await examine(url))).toEqual(['clock']);
  });

  test('behind which only some clocks are off: that is not passed over in silence', async () => {
    let requests = 0;
    const headers = (all: IncomingHttpHeaders) => {
      requests += 1;
      return requests < 3 ? all : { ...all, 'x-timestamp': '1700000000' };
    };
    const checks = await examine(await through({ headers }));
    expect(failuresOf(checks)).toEqual(['headers']);
    expect(statusOf(checks)).toMatchObject({ clock: 'ok', 'round trip': 'skipped' });
  });

  test('that passes large bodies on without their signature', async () => {
    const headers = (all: IncomingHttpHeaders) =>
      Number(all['content-length']) > 100_000 ? without('x-signature')(all) : all;
    const checks = await examine(await through({ headers }));
    expect(failuresOf(checks)).toEqual(['body']);
    expect(checks.map(({ check }) => check)).toEqual(CHECKS);
    expect(checks.find(({ check }) => check === 'body')?.detail).toMatch(/^with 200 KiB in it/);
  });

  test('behind which a server is away: neither headers nor secret are blamed', async () => {
    let requests = 0;
    const away = {
      code: 503,
      data: null,
      requestId: 'r',
      timestamp: '',
      reason: 'QUEUE_UNAVAILABLE',
    };
    const answer = () => {
      requests += 1;
      return requests === 1 ? undefined : JSON.stringify(away);
    };
    const checks = await examine(await through({ answer }));
    expect(statusOf(checks)).toMatchObject({ headers: 'ok', secret: 'skipped', service: 'failed' });
    expect(checks.find(({ check }) => check === 'service')?.detail).toBe(
      'its queue does not answer, takes no writes, or was paused with BullMQ',
    );
  });

  test.each(['x-client-id', 'x-timestamp', 'x-signature'])('that strips %s', async (name) => {
    const checks = await examine(await through({ headers: without(name) }));
    expect(failuresOf(checks)).toEqual(['headers']);
  });

  test('that strips the idempotency key; the matter is deleted all the same', async () => {
    const checks = await examine(await through({ headers: without('x-idempotency-key') }));
    expect(failuresOf(checks)).toEqual(['round trip']);
    expect(checks.at(-1)?.detail).toContain('X-Idempotency-Key');
    expect(await alive()).toBe(0);
  });

  test('that writes JSON anew', async () => {
    const rewrite = (text: string) => (text === '' ? '' : JSON.stringify(JSON.parse(text)));
    const checks = await examine(await through({ body: rewrite }));
    expect(failuresOf(checks)).toEqual(['body']);
    expect(checks.find(({ check }) => check === 'body')?.detail).toMatch(/white space.*numbers/);
  });

  test('that changes every body: the secret is found right by one that is empty', async () => {
    const checks = await examine(
      await through({ body: (text) => (text === '' ? '' : `${text} `) }),
    );
    expect(failuresOf(checks)).toEqual(['body']);
    expect(statusOf(checks)).toMatchObject({ secret: 'ok', 'round trip': 'skipped' });
  });

  test('that does not let the log be asked; the matter is deleted all the same', async () => {
    const answer = (url: string) => (url.includes('push-logs') ? 'forbidden' : undefined);
    const checks = await examine(await through({ answer }));
    expect(failuresOf(checks)).toEqual(['round trip']);
    expect(checks.at(-1)?.detail).not.toContain('may be left');
    expect(await alive()).toBe(0);
  });

  test('behind which the deletion fails at first: it is tried again', async () => {
    let deletions = 0;
    const busy = {
      ...{ code: 503, data: null, requestId: 'r', timestamp: '' },
      ...{ reason: 'BACKLOG_FULL', retryable: true },
    };
    const answer = (url: string) => {
      if (!url.includes('delete')) return undefined;
      deletions += 1;
      return deletions < 3 ? JSON.stringify(busy) : undefined;
    };
    expect(failuresOf(await examine(await through({ answer })))).toEqual([]);
    expect(await alive()).toBe(0);
  });

  test('that does not let it be deleted: the doctor says what is left', async () => {
    const answer = (url: string) => (url.includes('delete') ? 'forbidden' : undefined);
    const checks = await examine(await through({ answer }));
    expect(failuresOf(checks)).toEqual(['round trip']);
    expect(checks.at(-1)?.detail).toMatch(/matterctl-doctor-\w+ may be left/);
    await matterModel(service.db).deleteMany({ externalId: /^matterctl-doctor-/ });
  });
});

test('an answer without an end is none of the service, and is not kept', async () => {
  const endless = createServer((_, res) => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const pour = (): void => {
      while (!res.destroyed && res.write(chunk));
      if (!res.destroyed) res.once('drain', pour);
    };
    pour();
  }).listen(0, '127.0.0.1');
  gateway = endless;
  await once(endless, 'listening');
  const { port } = endless.address() as AddressInfo;
  const [first] = await examine(`http://127.0.0.1:${port}`);
  expect(first?.detail).toBe('something else answers, with status 200');
});

describe('Ctrl-C', () => {
  const press = () => void process.emit('SIGINT', 'SIGINT');

  test('before the round trip ends it at once', async () => {
    const answer = (url: string) => (url.includes('matters/get') ? press() : undefined);
    const { exitCode, stdout } = await run(await through({ answer }));
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
  });

  test('in the middle of the round trip: the matter is deleted first', async () => {
    const asked: string[] = [];
    const answer = (url: string) => {
      asked.push(url.replace('/api/open/', ''));
      if (url.includes('upsert')) press();
      return undefined;
    };
    const before = await made();
    const { exitCode, stdout, stderr } = await run(await through({ answer }));
    expect(exitCode).toBe(130);
    expect(stdout).toMatch(/^ok {7}round trip .* was pushed and deleted again$/m);
    expect(stderr).toMatch(/^Stopping: .*\nmatterctl: interrupted\n$/);
    expect(asked.slice(-2)).toEqual(['matters/upsert', 'matters/delete']);
    expect([await made(), await alive()]).toEqual([before + 1, 0]);
  });

  test('twice: it is not waited for, and what may be left is said', async () => {
    const answer = (url: string) => {
      if (url.includes('upsert') || url.includes('delete')) press();
      return url.includes('delete') ? 'too late' : undefined;
    };
    const { exitCode, stdout } = await run(await through({ answer }), service.clientId, undefined);
    expect(exitCode).toBe(130);
    expect(stdout).toMatch(/^failed {3}round trip .*matterctl-doctor-\w+ may be left, delete it$/m);
    await matterModel(service.db).deleteMany({ externalId: /^matterctl-doctor-/ });
  });
});

test('wrong usage is exit code 2, a file that is not there or empty is 1', async () => {
  const id = ['--client-id', 'c'];
  expect((await matterctl(['doctor', ...id])).exitCode).toBe(2);
  const args = ['doctor', ...id, '--url', service.urlOf(), '--secret-file'];
  expect((await matterctl([...args, path.join(folder, 'none')])).exitCode).toBe(1);
  expect((await matterctl([...args, secretFile('')])).stderr).toContain('is empty');
});
