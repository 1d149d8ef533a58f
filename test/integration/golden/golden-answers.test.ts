/** What callers are answered, word for word, on a small fixed ledger; and in English the same. */
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { clientModel } from '../../../src/storage/directory/client-model';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { importUsers } from '../../../src/storage/directory/user-admin';
import { expectGolden, normalised } from '../../support/golden';
import { expense, FULL, PUSHES } from '../../support/golden-ledger';
import { untilFarFromMidnight } from '../../support/midnight';
import { type Answer, type PushOptions, push } from '../../support/pusher';
import { connectRaw, rawPush } from '../../support/raw-http';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

/** Of the connection, or different every time. */
const PASSING = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];
const ENGLISH = { 'Accept-Language': 'en' };
type Sent = Partial<PushOptions>;
type Case = readonly [string, string, unknown, Sent?];

let service: SharedService;
/** Clients that are refused, by id. */
const secrets = new Map<string, string>();
const admin = () =>
  createClientAdmin(service.db, createKeyRing([service.env.SECRET_KEYS ?? '']), Date.now);

/** One that the service knows by now: what it knows of clients is a second old at most. */
async function knownClient(clientId: string, systemCode: string): Promise<string> {
  const { secret } = await newClient(clientId, systemCode);
  const me = { operation: '', path: '/api/open/clients/me', body: {} };
  const url = service.urlOf();
  await until(`the service to know ${clientId}`, async () => {
    return (await push({ url, clientId, secret, ...me })).code === 0;
  });
  return secret;
}

async function newClient(clientId: string, systemCode = 'G-OTHER') {
  const { secret } = await admin().create({ clientId, systemCode });
  secrets.set(clientId, String(secret));
  return { clientId, secret: String(secret) };
}
const as = (clientId: string): Sent => ({ clientId, secret: secrets.get(clientId) ?? 'none' });

beforeAll(async () => {
  service = await sharedService();
  const users = many.map(({ username }) => ({ username, displayName: username }));
  await importUsers(service.db, users);
  await admin().create({ clientId: 'g-public', systemCode: 'G-OTHER', type: 'PUBLIC' });
  for (const id of ['g-disabled', 'g-unbound', 'g-paused', 'g-limited']) await newClient(id);
  await admin().setEnabled('g-disabled', false);
  await clientModel(service.db).updateOne({ _id: 'g-unbound' }, { $set: { systemCode: null } });
  await admin().pause('g-paused', 'a reason');
  await admin().setLimit('g-limited', { rate: 1, burst: 1 });
});
afterAll(() => service.stop());

const many = Array.from({ length: 501 }, (_, n) => ({ username: `g-user-${n}`, partyRole: 'CC' }));
const WRONG = {
  matterType: 'TASK',
  externalId: 'L',
  pcUrl: 'javascript:1',
  bizStatus: 'done',
  deadlineAt: 'tomorrow',
  sourceUpdatedAt: 'yesterday',
  payloadJson: '{',
  parties: [{ username: 'alice' }, { username: 1, partyRole: 'CC' }],
};
const STATUS = { externalId: 'G-1', bizStatus: 'DONE' };
const unsigned = { headers: { 'X-Signature': undefined } };

/** Named after their reasons. */
const refused = (): readonly Case[] => [
  ['BODY_TOO_LARGE', 'upsert', expense('L', { content: 'x'.repeat(1_100_000) })],
  ['UNSUPPORTED_ENCODING', 'upsert', FULL, { headers: { 'Content-Encoding': 'gzip' } }],
  ['HMAC_HEADERS_MISSING', 'upsert', FULL, unsigned],
  ['TIMESTAMP_OUT_OF_WINDOW', 'upsert', FULL, { timestamp: '1717200000' }],
  ['SIGNATURE_MISMATCH', 'upsert', FULL, { secret: 'wrong' }],
  ['NO_USABLE_SECRET', 'status', STATUS, as('g-public')],
  ['CLIENT_DISABLED', 'status', STATUS, as('g-disabled')],
  ['NO_SYSTEM_CODE', 'status', STATUS, as('g-unbound')],
  ['CLIENT_PAUSED', 'status', STATUS, as('g-paused')],
  ['RATE_LIMITED', 'status', STATUS, as('g-limited')],
  ['INVALID_ENCODING', 'upsert', Buffer.from([0xff])],
  ['INVALID_JSON', 'upsert', '{"externalId":'],
  ['VALIDATION_FAILED', 'upsert', WRONG],
  ['UNKNOWN_USER', 'upsert', expense('U', { parties: [{ username: 'no', partyRole: 'CC' }] })],
  ['EXTERNAL_ID_RESERVED', 'upsert', expense('auto:1')],
  ['TOO_MANY_PARTIES', 'upsert', expense('P', { parties: many.slice(500) })],
  ['MATTER_NOT_FOUND', 'status', { ...STATUS, externalId: 'NONE' }],
  ['MATTER_DELETED', 'reopen', { externalId: 'G-3' }],
  ['PATH_NOT_FOUND', 'merge', {}],
  ['METHOD_NOT_ALLOWED', 'upsert', {}, { method: 'PUT' }],
];

const QUERIES: readonly (readonly [string, unknown])[] = [
  ['matters/get', { externalIds: ['G-1', 'G-2', 'G-3', 'NONE'] }],
  ['matters/query', { limit: 2 }],
  ['matters/query', { bizType: 'none' }],
  [
    'matters/diff',
    {
      lines: [
        { externalId: 'G-1', bizStatus: 'DONE', sourceUpdatedAt: '2024-06-05T08:00:00Z' },
        { externalId: 'G-2', deleted: true },
        { externalId: 'G-3', bizStatus: 'PENDING' },
        { externalId: 'NONE' },
      ],
    },
  ],
  ['matters/digest', { bizType: 'expense' }],
  ['users/check', { usernames: ['alice', 'nobody'] }],
  ['clients/me', {}],
  ['verify', { operation: 'upsert', push: { ...FULL, partys: [] } }],
  ['push-logs/query', { externalId: 'G-1', oldestFirst: true, count: true }],
  ['push-logs/query', { externalId: 'U', includeBody: true }],
  ['push-logs/failures', { reason: ['UNKNOWN_USER', 'VALIDATION_FAILED'] }],
  ['push-logs/stats', { by: 'day', outcome: 'CREATED' }],
  ['matters/digest', { fromDay: 'yesterday' }],
  ['verify', { operation: 'merge' }],
];

/** What is written in the background is waited for: whether an answer has it. */
const WRITTEN: Readonly<Record<string, (data: string) => boolean>> = {
  'push-logs/query': (data) => !data.includes('"state":"QUEUED"') && !data.includes('"entries":[]'),
  'push-logs/failures': (data) => data.includes('"pushes":2,'),
  'push-logs/stats': (data) => data.includes('"pushes":4,'),
};

type Language = 'zh' | 'en';
type Noted = Pick<Answer, 'status' | 'headers'>;

/** What is answered to all of the cases, by name and in their order. */
async function answersIn(language: Language): Promise<unknown> {
  // The statistics by day have one row for the pushes.
  await untilFarFromMidnight();
  const clientId = `golden-${language}`;
  const systemCode = `G-${language.toUpperCase()}`;
  const ownSecret = await knownClient(clientId, systemCode);
  const headers = language === 'en' ? ENGLISH : {};
  const names = { [clientId]: '<client>', [systemCode]: '<system>' };
  const answers: unknown[] = [];
  const note = (of: string, { status, headers: all, ...body }: Noted) => {
    const kept = Object.entries(all).filter(([name]) => !PASSING.includes(name));
    answers.push(normalised({ of, status, headers: Object.fromEntries(kept), body }, names));
  };
  const send = (operation: string, body: unknown, more: Sent = {}) => {
    const { clientId: id = clientId, secret = ownSecret } = more;
    const merged = { ...more, clientId: id, secret, headers: { ...headers, ...more.headers } };
    return push({ url: service.urlOf(), operation, body, ...merged });
  };

  for (const [name, operation, body, idempotencyKey] of PUSHES) {
    note(name, await send(operation, body, idempotencyKey ? { idempotencyKey } : {}));
  }
  await send('upsert', expense('P', { parties: many.slice(0, 500) }));
  for (const [reason, operation, body, more] of refused()) {
    // A client is known as it is now within a second, and a rate is exceeded by several.
    const answer = await until(reason, async () => {
      const times = reason === 'RATE_LIMITED' ? 20 : 1;
      const sent = Array.from({ length: times }, () => send(operation, body, more));
      return (await Promise.all(sent)).find((one) => one.reason === reason);
    });
    note(reason, answer);
  }
  for (const [name, body] of QUERIES) {
    const isWritten = WRITTEN[name] ?? (() => true);
    const answer = await until(`the answer of ${name}`, async () => {
      const found = await send('', body, { path: `/api/open/${name}` });
      return isWritten(JSON.stringify(found.data)) && found;
    });
    note(`${name} ${JSON.stringify(body)}`, answer);
  }
  // Its id is another one every time: it comes last.
  note('upsert without an id', await send('upsert', { matterType: 'NOTICE', title: 'notice' }));
  return answers;
}

test('pushes and queries are answered in Chinese word for word, and the same in English', async () => {
  const chinese = await answersIn('zh');
  expectGolden('answers-zh.json', chinese);
  const english = await answersIn('en');
  expect(withoutTexts(english)).toEqual(withoutTexts(chinese));
  expect(messagesIn(english).filter(isChinese)).toEqual([]);
});

test('broken requests are answered in Chinese; lines of orphans also in English', async () => {
  const chinese = await rawAnswersIn('zh');
  expectGolden('answers-raw-zh.json', chinese);
  const english = await rawAnswersIn('en');
  expect(withoutTexts(english)).toEqual(withoutTexts(chinese));
  // The service could not read which language the first two ask for.
  const readable = { ...english, MALFORMED_REQUEST: null, BODY_INCOMPLETE: null };
  expect(messagesIn(readable).filter(isChinese)).toEqual([]);
});

const isChinese = (text: string) => /\p{Script=Han}/u.test(text);

/** The same in both languages, unless an answer differs in more than its texts. */
function withoutTexts(answers: unknown): unknown {
  const text = JSON.stringify(answers, (name, value) => (name === 'message' ? '<text>' : value));
  return JSON.parse(text.replace(/(content-language"?: ?"?)(zh-CN|en)/gi, '$1<language>'));
}

function messagesIn(answers: unknown): string[] {
  const messages: string[] = [];
  JSON.stringify(answers, (name, value) => {
    if (name === 'message') messages.push(value);
    return value;
  });
  return messages;
}

/** What is answered to requests that no client library sends, by name. */
async function rawAnswersIn(language: Language): Promise<Record<string, unknown>> {
  const clientId = `golden-raw-${language}`;
  const systemCode = `G-RAW-${language.toUpperCase()}`;
  const secret = await knownClient(clientId, systemCode);
  const headers = language === 'en' ? ['Accept-Language: en'] : [];
  const body = JSON.stringify(expense('RAW'));
  const raw = { clientId, secret, body, headers };
  const pushed = await push({ ...raw, url: service.urlOf(), operation: 'upsert', headers: {} });
  expect(pushed).toMatchObject({ code: 0 });
  /** @param breaksOff the caller is gone after it */
  const ask = async (text: string, breaksOff = false) => {
    const caller = await connectRaw(service.urlOf());
    caller.send(text);
    if (breaksOff) caller.socket.end();
    await caller.closed;
    caller.socket.destroy();
    return caller.received();
  };
  const target = '/api/open/matters/orphans';
  const list = { ...raw, target, headers: [...headers, 'Connection: close'] };
  const texts = {
    MALFORMED_REQUEST: await ask('nonsense\r\n\r\n'),
    BODY_INCOMPLETE: await ask(rawPush({ ...raw, sent: body.slice(0, 10) }), true),
    orphans: await ask(rawPush({ ...list, body: '"ELSEWHERE"' })),
    'orphans, a bad line': await ask(rawPush({ ...list, body: '"A"\n{}' })),
  };
  const parts = Object.entries(texts).map(([of, text]) => [of, partsOf(text)]);
  const names = { [clientId]: '<client>', [systemCode]: '<system>' };
  return normalised(Object.fromEntries(parts), names) as Record<string, unknown>;
}

/** An answer as it came: its first line, the headers that stay, and its lines of JSON. */
function partsOf(text: string): object {
  const [head = '', rest = ''] = text.split('\r\n\r\n');
  const [status, ...headers] = head.split('\r\n');
  const kept = headers.filter((line) => !PASSING.includes(line.split(':')[0]?.toLowerCase() ?? ''));
  const utf8 = Buffer.from(rest, 'latin1').toString('utf8');
  const lines = utf8.split(/\r?\n/).filter((line) => line.startsWith('{'));
  return { status, headers: kept, lines: lines.map((line) => JSON.parse(line)) };
}
