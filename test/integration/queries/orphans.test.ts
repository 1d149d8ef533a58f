/** `matters/orphans` through HTTP: large lists in, streams out, and nothing left behind. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sign } from '../../../src/protocol/signature';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { entryModel } from '../../../src/storage/push-log/entry';
import { untilKnown } from '../../support/known-client';
import { seedLedger } from '../../support/ledger-seed';
import { connectRaw, rawPush } from '../../support/raw-http';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

const PATH = '/api/open/matters/orphans';
const OPEN = 30_000;
const idOf = (n: number) => `HD-${String(n).padStart(6, '0')}`;

let service: SharedService;
let stranger: Sending;
beforeAll(async () => {
  service = await sharedService();
  const keys = createKeyRing([String(service.env.SECRET_KEYS)]);
  const admin = createClientAdmin(service.db, keys, Date.now);
  const clientId = `stranger-${randomBytes(4).toString('hex')}`;
  const { secret } = await admin.create({ clientId, systemCode: 'OTHER' });
  stranger = { clientId, secret: String(secret) };
  await untilKnown({ url: service.urlOf(), clientId, secret: String(secret) });
  const title = '审批'.repeat(100);
  await seedLedger(service.db, OPEN, (n) => ({ externalId: idOf(n), title }));
  const phases = ['DRAFT', 'CONCLUDED', 'DELETED'] as const;
  await seedLedger(service.db, 3, (n) => ({
    externalId: `A-${n}`,
    phase: phases[n] ?? 'OPEN',
    deleted: n === 2,
  }));
});
afterAll(() => service.stop());

interface Sending {
  readonly clientId?: string;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The signature is that of another body. */
  readonly signed?: string;
  readonly unfinished?: boolean;
}

function send(body: string | Buffer, sending: Sending = {}) {
  const { clientId = service.clientId, secret = service.secret, signed = body } = sending;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'X-Client-Id': clientId,
    'X-Timestamp': timestamp,
    'X-Signature': sign(secret, clientId, timestamp, signed),
    'Content-Type': 'application/x-ndjson',
    ...sending.headers,
  };
  const req = request(service.urlOf() + PATH, { method: 'POST', agent: false, headers });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    req.on('response', resolve);
    req.on('error', reject);
  });
  // A connection that the test breaks off has nobody waiting for its answer.
  response.catch(() => undefined);
  req.write(body);
  if (!sending.unfinished) req.end();
  return { req, response };
}

async function answerOf(body: string | Buffer, sending: Sending = {}) {
  const response = await send(body, sending).response;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString().trimEnd().split('\n');
  const rows = lines.map((line) => JSON.parse(line));
  return { status: response.statusCode, rows, last: rows.pop() };
}

/** A list that has its client's place and does not end. The one that looks for it may get the place first. */
async function sendAndHold(): Promise<ReturnType<typeof send>> {
  for (;;) {
    const list = send('"HD-1"\n', { unfinished: true });
    let isRejected = false;
    const reject = () => {
      isRejected = true;
    };
    list.response.then(reject, reject);
    await until(
      'the list to have its place, or to be rejected',
      async () => isRejected || (await answerOf('"HD-2"')).status === 503,
    );
    if (!isRejected) return list;
    (await list.response).resume();
  }
}

const listOf = (count: number) => Array.from({ length: count }, (_, n) => JSON.stringify(idOf(n)));

test('what is open here and not in the list, in order, then the envelope', async () => {
  const list = [...listOf(OPEN).slice(2), '{"externalId":"HD-000000"}', '', '"ELSEWHERE"'];
  const { status, rows, last } = await answerOf(list.join('\n'));
  expect(status).toBe(200);
  expect(rows).toEqual([
    expect.objectContaining({ externalId: 'A-0', phase: 'DRAFT' }),
    {
      externalId: 'HD-000001',
      matterId: expect.stringMatching(/^\d+$/),
      matterType: 'TODO',
      title: expect.stringContaining('审批'),
      bizType: null,
      bizStatus: 'PENDING',
      phase: 'OPEN',
      sourceUpdatedAt: null,
      updatedAt: expect.stringMatching(/Z$/),
    },
  ]);
  const data = { listed: OPEN, open: OPEN + 1, orphans: 2 };
  expect(last).toMatchObject({ code: 0, message: 'success', data });
});

test('another system has nothing open, whatever it lists', async () => {
  const { rows, last } = await answerOf('"HD-000001"', stranger);
  expect({ rows, last }).toMatchObject({ rows: [], last: { data: { listed: 1, open: 0 } } });
});

test('a client that was made a moment ago, and a secret of a moment ago, are known soon', async () => {
  const keys = createKeyRing([String(service.env.SECRET_KEYS)]);
  const admin = createClientAdmin(service.db, keys, Date.now);
  const untilAccepted = (secret: string | null) =>
    until('the secret to be known', async () => {
      const newcomer = { clientId: 'newcomer', secret: String(secret) };
      return (await answerOf('"A-0"', newcomer)).last.code === 0;
    });
  // The clients are read now, without the one that is made after it.
  await answerOf('"A-0"', stranger);
  const { secret } = await admin.create({ clientId: 'newcomer', systemCode: 'NEW' });
  await untilAccepted(secret);
  for (let n = 0; n < 3; n += 1) {
    await answerOf('"A-0"', stranger);
    await untilAccepted((await admin.rotate('newcomer', 60_000)).secret);
  }
});

test('a hundred thousand lines in and thirty thousand out take little memory', async () => {
  const rss = () => {
    const text = execFileSync('ps', ['-o', 'rss=', '-p', String(service.webs[0]?.pid)]);
    return Number(String(text)) * 1024;
  };
  const before = rss();
  const ids = Array.from({ length: 100_000 }, (_, n) => JSON.stringify(`OTHER-${n}`));
  const { rows, last } = await answerOf(ids.join('\n'));
  expect(rows).toHaveLength(OPEN + 1);
  expect(rows.map(({ externalId }) => externalId)).toEqual(
    rows.map(({ externalId }) => externalId).sort(),
  );
  const data = { listed: 100_000, open: OPEN + 1, orphans: OPEN + 1 };
  expect(last).toMatchObject({ code: 0, data });
  expect(rss() - before).toBeLessThan(200 * 1024 * 1024);
});

describe('a list that is rejected', () => {
  const LIMIT = 64 * 1024 * 1024;
  const tooLong = JSON.stringify('x'.repeat(129));
  test.each<[string, string | Buffer, string[]]>([
    ['no JSON', '"HD-1"\n\nHD-2\n{"id":1}', ['line 3', 'line 4']],
    ['an id that is too long', tooLong, ['line 1']],
    ['too many lines', '"HD"\n'.repeat(1_000_001), ['(body)']],
  ])('%s is named', async (_, body, fields) => {
    const errors = fields.map((field) => ({ field, message: expect.any(String) }));
    const last = { code: 400, reason: 'VALIDATION_FAILED', data: null, errors };
    expect(await answerOf(body)).toMatchObject({ status: 400, rows: [], last });
  });

  const bytes = Buffer.from([0x22, 0xff, 0x22]);
  const over = { 'Content-Length': String(LIMIT + 1) };
  test.each<[string, string | Buffer, Sending, number, string]>([
    ['not UTF-8', bytes, {}, 400, 'INVALID_ENCODING'],
    ['compressed', '', { headers: { 'Content-Encoding': 'gzip' } }, 415, 'UNSUPPORTED_ENCODING'],
    ['too large', '', { headers: over }, 413, 'BODY_TOO_LARGE'],
    ['without a client', '', { headers: { 'X-Client-Id': '' } }, 401, 'HMAC_HEADERS_MISSING'],
    ['of an unknown client', 'no JSON', { clientId: 'nobody' }, 401, 'SIGNATURE_MISMATCH'],
    ['with another signature', 'no JSON', { secret: 'wrong' }, 401, 'SIGNATURE_MISMATCH'],
    ['longer than what was signed', '"A"\n"B"', { signed: '"A"\n' }, 401, 'SIGNATURE_MISMATCH'],
  ])('%s', async (_, body, sending, code, reason) => {
    const { status, rows, last } = await answerOf(body, sending);
    expect({ status, rows, ...last }).toMatchObject({ status: code, rows: [], code, reason });
  });

  test('stands in the push log where its client is known', async () => {
    const { last } = await answerOf('"HD-1"\n', { secret: 'wrong' });
    await until('the entry', async () => {
      const entry = await entryModel(service.db).findById(last.requestId).lean();
      return entry?.operation === 'matters/orphans' && entry.bodySize === 7;
    });
  });

  test('the second one of a client at the same time', async () => {
    const first = await sendAndHold();
    const rejected = { status: 503, last: { reason: 'TOO_MANY_QUERIES', retryable: true } };
    expect(await answerOf('"HD-2"')).toMatchObject(rejected);
    expect(await answerOf('"HD-2"', stranger)).toMatchObject({ status: 200 });
    first.req.end();
    expect((await first.response).statusCode).toBe(200);
    (await first.response).resume();
    await until('its place', async () => (await answerOf('"HD-2"')).status === 200);
  });
});

describe('a caller who goes away', () => {
  /** The idle cursors of this database. Other test files have cursors of their own on the same server. */
  const openCursors = async () => {
    const ofDatabase = { type: 'idleCursor', ns: new RegExp(`^${service.db.name}\\.`) };
    const admin = service.db.getClient().db('admin');
    const found = await admin
      .aggregate([{ $currentOp: { allUsers: true, idleCursors: true } }, { $match: ofDatabase }])
      .toArray();
    return found.length;
  };

  test('while sending is forgotten', async () => {
    const { req } = await sendAndHold();
    req.destroy();
    await until('its place', async () => (await answerOf('"HD-2"')).status === 200);
  });

  test('while sending behind other requests is forgotten', async () => {
    const { clientId = '' } = stranger;
    const unsigned = { clientId, secret: 'whatever', target: PATH, body: '"HD-1"', sent: '"' };
    const before = 'GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20);
    for (const ms of [0, 2, 10, 30]) {
      const caller = await connectRaw(service.urlOf());
      caller.send(before + rawPush(unsigned));
      await sleep(ms);
      caller.socket.resetAndDestroy();
      await until('its place', async () => (await answerOf('"HD-2"', stranger)).status === 200);
    }
  });

  test('while reading leaves no cursor open', async () => {
    const before = await openCursors();
    const response = await send('"NOBODY"').response;
    response.pause();
    await until('a cursor', async () => (await openCursors()) > before);
    response.destroy();
    await until('its end', async () => (await openCursors()) <= before);
    expect((await answerOf('"HD-2"')).status).toBe(200);
  });
});
