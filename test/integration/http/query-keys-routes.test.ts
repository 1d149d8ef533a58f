/**
 * Query keys (contract 3.5) at every signed route, one by one: batches and lists are authenticated
 * while they arrive, by code of their own. A key that only asks pushes nowhere, no key opens another system,
 * and none opens anything after its end.
 */
import { OPERATIONS } from '../../../src/domain/operation';
import { QUERIES } from '../../../src/protocol/endpoints';
import { BATCH, ORPHANS, RESEND, VERIFY, VERIFY_BATCH } from '../../../src/protocol/paths';
import { sign } from '../../../src/protocol/signature';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { clientModel } from '../../../src/storage/directory/client-model';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { type ConsoleKey, makeConsoleKey } from '../../support/console-key';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const PUSHES = [...OPERATIONS.map((name) => `matters/${name}`), BATCH, RESEND];
const ASKING = [...QUERIES, ORPHANS, VERIFY, VERIFY_BATCH];

let service: Service;
/** Of a system that pushed; of another one that has a secret too, and pushed nothing. */
let ours: Signer;
let theirs: Signer;
/** What the first system pushed. */
const pushed = { requestId: '', batchId: '' };

type Signer = Pick<ConsoleKey, 'clientId' | 'key'>;

beforeAll(async () => {
  const rates = { RATE_LIMIT: '500', RATE_BURST: '1000' };
  service = await startService({
    env: { QUERY_KEY_RATE: '200', ...rates },
  });
  ours = { clientId: service.clientId, key: service.secret };
  const { secret } = await admin().create({ clientId: 'theirs', systemCode: 'THEIRS' });
  theirs = { clientId: 'theirs', key: String(secret) };
  await pushOurs();
});
afterAll(() => service.stop());

const admin = () =>
  createClientAdmin(service.db, createKeyRing([service.env.SECRET_KEYS ?? '']), Date.now);

/** Written, failed and in a batch, each with names by which it would be known again. */
async function pushOurs(): Promise<void> {
  const idempotencyKey = 'OURS-KEY';
  const written = await service.push('upsert', upsertOf('OURS-1'), { idempotencyKey });
  await service.push('upsert', upsertOf('OURS-2'));
  for (const id of ['OURS-1', 'OURS-3']) {
    await service.push('upsert', { ...upsertOf(id), bizStatus: 'no status' });
  }
  const batch = await service.push('batch', linesOf('OURS-1'));
  Object.assign(pushed, { requestId: written.requestId, batchId: batch.requestId });
  await until('the counts', async () => {
    const { data } = (await call('push-logs/stats', {}, ours)).envelope;
    return data.total.pushes >= 5;
  });
}

const upsertOf = (externalId: string) => ({
  ...{ matterType: 'TODO', externalId, title: 'of ours', bizType: externalId },
  sourceUpdatedAt: 1_760_000_000_000,
});
const linesOf = (externalId: string) =>
  [upsertOf(externalId), { externalId, bizStatus: 'DONE' }]
    .map((body, n) => JSON.stringify({ op: n === 0 ? 'upsert' : 'status', body }))
    .join('\n');

interface Told {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each route has a shape of its own, and tests look into all of them
  readonly envelope: any;
}

/** Signs and sends; the envelope of an answer in lines is its last one. */
async function call(path: string, body: unknown, { clientId, key }: Signer): Promise<Told> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const timestamp = String(Math.floor(Date.now() / 1000));
  const response = await fetch(`${service.urlOf()}/api/open/${path}`, {
    method: 'POST',
    body: bytes,
    headers: {
      'X-Client-Id': clientId,
      'X-Timestamp': timestamp,
      'X-Signature': sign(key, clientId, timestamp, bytes),
    },
  });
  const text = await response.text();
  const envelope = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
  return { status: response.status, text, envelope };
}

/** That each route takes, of one matter. */
function bodyOf(path: string, externalId: string): unknown {
  const bodies: Readonly<Record<string, unknown>> = {
    [BATCH]: linesOf(externalId),
    [VERIFY_BATCH]: linesOf(externalId),
    [RESEND]: { requestIds: [pushed.requestId] },
    [VERIFY]: { operation: 'upsert', push: upsertOf(externalId) },
    [ORPHANS]: `${JSON.stringify({ externalId })}\n`,
    'matters/upsert': upsertOf(externalId),
    'matters/status': { externalId, bizStatus: 'DONE' },
    'matters/get': { externalIds: [externalId] },
    'matters/diff': { lines: [{ externalId, bizStatus: 'PENDING' }] },
    'users/check': { usernames: ['alice'] },
  };
  return bodies[path] ?? (path.startsWith('matters/') ? { externalId } : {});
}

const ledger = () => matterModel(service.db).find().sort({ _id: 1 }).lean();
/** But for what says that somebody was refused. */
const log = () =>
  entryModel(service.db)
    .find({ result: { $nin: ['SCOPE_NOT_ALLOWED', 'SIGNATURE_MISMATCH'] } })
    .sort({ _id: 1 })
    .lean();

describe('a key that only asks', () => {
  let key: ConsoleKey;
  beforeAll(async () => {
    key = await makeConsoleKey(service);
  });

  test.each(PUSHES)('%s is refused: the ledger and the log stay as they were', async (path) => {
    const before = [await ledger(), await log()];
    for (const externalId of ['OURS-1', 'OURS-NEW']) {
      const { status, envelope } = await call(path, bodyOf(path, externalId), key);
      expect({ status, ...envelope }).toMatchObject({
        ...{ status: 403, code: 403, reason: 'SCOPE_NOT_ALLOWED', data: null },
      });
    }
    expect([await ledger(), await log()]).toEqual(before);
  });

  test.each(ASKING)('%s answers, and writes nothing, whatever it is sent', async (path) => {
    const before = [await ledger(), await log()];
    const { envelope } = await call(path, bodyOf(path, 'OURS-1'), key);
    expect(envelope).toMatchObject({ code: 0 });
    const all = [...PUSHES, ...ASKING].map((other) => bodyOf(other, 'OURS-NEW'));
    for (const body of all) await call(path, body, key);
    expect([await ledger(), await log()]).toEqual(before);
  });
});

describe('a key of another system', () => {
  let key: ConsoleKey;
  beforeAll(async () => {
    const { env, push } = service;
    key = await makeConsoleKey({ env, push, clientId: theirs.clientId }, '--may-push');
  });

  /** Their names are said too: nobody may choose whose data is told. */
  const asOurs = (body: object) => ({ ...body, systemCode: 'TEST', clientId: 'tester' });
  /** Each asked about what there is, and about what there is not. */
  const QUESTIONS: [path: string, question: (name: string) => unknown][] = [
    ['matters/get', (name) => asOurs({ externalIds: [`${name}-1`] })],
    ['matters/query', (name) => asOurs({ externalIdPrefix: name })],
    ['matters/query', (name) => asOurs({ bizType: `${name}-1`, newestFirst: true })],
    ['matters/diff', (name) => asOurs({ lines: [{ externalId: `${name}-1` }] })],
    ['matters/digest', (name) => asOurs({ bizType: `${name}-1` })],
    ['matters/digest', () => asOurs({})],
    [ORPHANS, (name) => `{"externalId":"${name}-2","systemCode":"TEST"}\n`],
    ['push-logs/query', () => asOurs({})],
    ['push-logs/query', (name) => asOurs({ externalId: `${name}-1`, includeBody: true })],
    ['push-logs/query', (name) => asOurs({ idempotencyKey: `${name}-KEY`, count: true })],
    ['push-logs/query', (name) => asOurs({ requestId: idOf(name, 'requestId') })],
    ['push-logs/query', (name) => asOurs({ batchId: idOf(name, 'batchId') })],
    ['push-logs/failures', () => asOurs({})],
    ['push-logs/failures', () => asOurs({ stillFailed: true, reason: 'VALIDATION_FAILED' })],
    ['push-logs/stats', () => asOurs({})],
    ['push-logs/stats', () => asOurs({ by: 'day', reason: 'VALIDATION_FAILED' })],
  ];
  const idOf = (name: string, id: keyof typeof pushed) =>
    name === 'OURS' ? pushed[id] : 'f'.repeat(24);
  /** What depends on the moment, and on the names that were asked for, is no news. */
  const newsIn = ({ text }: Told, name: string) =>
    text
      .replaceAll(name, 'NAME')
      .replace(/"(requestId|timestamp|watermark|keptSince|from|to)":"[^"]*"/g, '');

  test.each(QUESTIONS)(
    '%s tells it what it tells of things that are not there (%#)',
    async (...asked) => {
      const [path, question] = asked;
      const told = await call(path, question('OURS'), key);
      expect(told.envelope).toMatchObject({ code: 0 });
      expect(newsIn(told, 'OURS')).toBe(newsIn(await call(path, question('NONE'), key), 'NONE'));
      expect(told.text).not.toContain('of ours');
      // The first system itself is told something.
      expect(newsIn(await call(path, question('OURS'), ours), 'OURS')).not.toBe(
        newsIn(told, 'OURS'),
      );
    },
  );

  test.each([
    ['push-logs/query', {}],
    ['push-logs/query', { oldestFirst: true }],
    ['push-logs/failures', {}],
    ['matters/query', {}],
    ['matters/query', { externalIdPrefix: 'OURS' }],
  ])('%s %j: it cannot go on from a cursor of the first one', async (path, body) => {
    const first = await call(path, { ...body, limit: 1 }, ours);
    const cursor = first.envelope.data.nextCursor;
    expect(cursor).toEqual(expect.any(String));
    const { envelope } = await call(path, { ...body, limit: 1, cursor }, key);
    expect(envelope).toMatchObject({ code: 400, reason: 'VALIDATION_FAILED', data: null });
    expect(envelope.errors).toEqual([expect.objectContaining({ field: 'cursor' })]);
    const next = await call(path, { ...body, limit: 1, cursor }, ours);
    expect(next.envelope).toMatchObject({ code: 0 });
  });

  test('clients/me tells of its own client alone', async () => {
    const { text } = await call('clients/me', asOurs({}), key);
    expect(JSON.parse(text).data).toMatchObject({ clientId: 'theirs', systemCode: 'THEIRS' });
    expect(text).not.toMatch(/"(tester|TEST)"/);
  });

  test.each([...PUSHES, ...ASKING])(
    '%s refuses it under the name of the first one',
    async (path) => {
      const before = await ledger();
      const forged = { clientId: ours.clientId, key: key.key };
      const { status, envelope } = await call(path, bodyOf(path, 'OURS-1'), forged);
      expect({ status, ...envelope }).toMatchObject({ status: 401, reason: 'SIGNATURE_MISMATCH' });
      expect(await ledger()).toEqual(before);
    },
  );

  test('pushing, it finds nothing of the first one, and changes nothing of it', async () => {
    const before = await ledger();
    for (const path of ['matters/status', 'matters/reopen', 'matters/delete']) {
      const { envelope } = await call(path, bodyOf(path, 'OURS-1'), key);
      expect(envelope).toMatchObject({ code: 404, reason: 'MATTER_NOT_FOUND' });
    }
    await call('matters/upsert', bodyOf('matters/upsert', 'OURS-1'), key);
    await call(BATCH, bodyOf(BATCH, 'OURS-2'), key);
    const { envelope } = await call(RESEND, bodyOf(RESEND, 'OURS-1'), key);
    expect(envelope.data.results).toMatchObject([{ sent: false, reason: 'PUSH_NOT_FOUND' }]);
    const after = await ledger();
    expect(after.filter(({ systemCode }) => systemCode === 'TEST')).toEqual(before);
    expect(after.filter(({ systemCode }) => systemCode === 'THEIRS')).toHaveLength(2);
  });
});

/** Milliseconds: the service has read the key by then, and knows its end before it comes. */
const SOON = 2_000;

describe.each<[how: string, end: (key: ConsoleKey) => Promise<unknown>]>([
  [
    'whose end has come',
    ({ clientId, keyId }) =>
      clientModel(service.db).updateOne(
        { _id: clientId, 'queryKeys.id': keyId },
        { $set: { 'queryKeys.$.expiresAt': new Date(Date.now() + SOON) } },
      ),
  ],
  ['that was revoked', ({ clientId, keyId }) => admin().revokeQueryKeys(clientId, keyId)],
])('a key %s', (_, end) => {
  let key: ConsoleKey;
  beforeAll(async () => {
    key = await makeConsoleKey(service, '--may-push');
    expect((await call('matters/upsert', upsertOf('OURS-4'), key)).envelope.code).toBe(0);
    await end(key);
    const code = async () => (await call('clients/me', {}, key)).envelope.code;
    await until('its end to be known', async () => (await code()) === 401);
  });

  test.each([...PUSHES, ...ASKING])('opens %s no more', async (path) => {
    const before = [await ledger(), await log()];
    const { status, envelope } = await call(path, bodyOf(path, 'OURS-1'), key);
    expect({ status, ...envelope }).toMatchObject({
      ...{ status: 401, code: 401, reason: 'SIGNATURE_MISMATCH', data: null },
    });
    expect([await ledger(), await log()]).toEqual(before);
    // It is the key, and not what was asked.
    if (ASKING.includes(path as typeof VERIFY)) {
      expect((await call(path, bodyOf(path, 'OURS-1'), ours)).envelope.code).toBe(0);
    }
  });
});
