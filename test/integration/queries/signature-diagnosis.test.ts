/** The signature doctor on a running service: what the client and the operator are told, and who not. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Diagnosis } from '../../../src/protocol/log-page';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { matterctl } from '../../support/cli-tool';
import { type HeaderList, post } from '../../support/hostile-post';
import { documentsOf, logsOf } from '../../support/hostile-search';
import { untilKnown } from '../../support/known-client';
import {
  BODY_MISTAKES,
  COMPACT,
  DIGEST_MISTAKES,
  KEY_MISTAKES,
  type Mistake,
  signs,
  TEXT_MISTAKES,
  TIME_MISTAKES,
  type Wire,
} from '../../support/mistakes';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const PATH = '/api/open/matters/upsert';
/** Of each: what is planted here, by the causes that are to be named. */
const PLANTED = [
  ...pick(BODY_MISTAKES, [
    'BODY_AS_PYTHON',
    'BODY_AS_PHP',
    'BODY_AS_GO',
    'BODY_SORTED',
    'BODY_BOM',
  ]),
  ...pick(TEXT_MISTAKES, ['SEPARATOR_LITERAL', 'FIELDS_REORDERED', 'PATH_INCLUDED']),
  ...pick(TIME_MISTAKES, ['TIMESTAMP_MILLISECONDS']),
  ...pick(KEY_MISTAKES, ['SECRET_RETIRED', 'SECRET_WHITE_SPACE']),
  ...pick(DIGEST_MISTAKES, ['SIGNATURE_BASE64', 'SIGNATURE_IS_SECRET']),
];

function pick(
  mistakes: readonly (readonly [string, Mistake])[],
  causes: readonly string[],
): (readonly [string, Mistake])[] {
  return causes.map((cause) => [
    cause,
    mistakes.find(([name]) => name === cause)?.[1] ?? signs(''),
  ]);
}

interface Rejected {
  readonly cause: string;
  readonly requestId: string;
  readonly text: string;
  readonly wire: Wire;
  /** The signature that would have been right. */
  readonly expected: string;
}

let service: Service;
let secret: string;
const rejected: Rejected[] = [];

beforeAll(async () => {
  service = await startService({ env: { LOG_LEVEL: 'trace' } });
  const { clientId, secret: retired } = service;
  const keyRing = createKeyRing([String(service.env.SECRET_KEYS)]);
  ({ secret } = await createClientAdmin(service.db, keyRing, Date.now).rotate(clientId, 0));
  for (const [cause, mistake] of PLANTED) {
    const given = { clientId, secret, retired, path: PATH, seconds: Math.floor(Date.now() / 1000) };
    const wire = mistake(given);
    const right = signs(wire.body, wire.body)({ ...given, seconds: Number(wire.timestamp) });
    const { text } = await send(wire);
    const { requestId } = JSON.parse(text);
    rejected.push({ cause, requestId, text, wire, expected: right.signature });
    // Ten of a client are recorded in a second.
    await sleep(150);
  }
});
afterAll(() => service.stop());

function send({ timestamp, signature, body }: Wire, clientId = service.clientId) {
  const headers: HeaderList = [
    ['X-Client-Id', clientId],
    ['X-Timestamp', timestamp],
    ['X-Signature', signature],
  ];
  return post(service.urlOf() + PATH, headers, body);
}

const query = async (body: object) => {
  const answer = await service.push('', body, { path: '/api/open/push-logs/query', secret });
  if (answer.code !== 0) throw new Error(JSON.stringify(answer));
  return answer.data as unknown as { entries: { requestId: string; diagnosis?: Diagnosis }[] };
};
const show = (requestId: string, ...more: string[]) => {
  const { MONGO_URL, SECRET_KEYS } = service.env;
  return matterctl(['log', 'show', requestId, ...more], { env: { MONGO_URL, SECRET_KEYS } });
};
const systemOf = async (clientId: string) => {
  const clients = service.db.collection<{ _id: string; systemCode: string }>('clients');
  return (await clients.findOne({ _id: clientId }))?.systemCode ?? '';
};
const causesOf = (diagnosis?: Diagnosis) => diagnosis?.findings.map(({ cause }) => cause);
/** A search that a slow machine gives too little time says "ask again", and is asked again. */
const ranOut = (diagnosis?: Diagnosis) =>
  diagnosis?.complete === false && causesOf(diagnosis)?.includes('UNEXPLAINED') === true;
const diagnosed = (requestId: string) =>
  until('its entry, diagnosed', async () => {
    const [found] = (await query({ requestId })).entries;
    return !ranOut(found?.diagnosis) && found;
  });
const shownDiagnosed = (requestId: string) =>
  until('the diagnosis in words', async () => {
    const shown = await show(requestId);
    return !shown.stdout.includes('UNEXPLAINED') && shown;
  });
const find = (cause: string) => {
  const found = rejected.find((one) => one.cause === cause);
  if (!found) throw new Error(`${cause} was not planted`);
  return found;
};

test('at least ten were planted, and the 401 tells of none more than before', () => {
  expect(PLANTED.length).toBeGreaterThanOrEqual(10);
  for (const { cause, text } of rejected) {
    const { requestId, timestamp, ...rest } = JSON.parse(text);
    const isTime = cause === 'TIMESTAMP_MILLISECONDS';
    expect(rest).toEqual({
      code: 401,
      message: isTime ? 'X-Timestamp 超出允许时间窗' : 'HMAC 签名校验失败',
      data: null,
      reason: isTime ? 'TIMESTAMP_OUT_OF_WINDOW' : 'SIGNATURE_MISMATCH',
      retryable: false,
      help: `/docs#reason-${isTime ? 'TIMESTAMP_OUT_OF_WINDOW' : 'SIGNATURE_MISMATCH'}`,
    });
  }
});

test.each(PLANTED.map(([cause]) => cause))(
  '%s is named to the client and to operators',
  async (cause) => {
    const { requestId } = find(cause);
    const entry = await diagnosed(requestId);
    expect(causesOf(entry.diagnosis)).toEqual([cause]);
    const json = await until('the diagnosis of the command', async () => {
      const found = JSON.parse((await show(requestId, '--json')).stdout);
      return !ranOut(found.diagnosis) && found;
    });
    expect(causesOf(json.diagnosis)).toEqual([cause]);
    const { stdout, exitCode } = await shownDiagnosed(requestId);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`^ {2}${cause}: `, 'm'));
    expect(stdout).toMatch(/^ {4}fix: /m);
  },
);

test('where the body was written anew, the first byte that differs is shown', async () => {
  const { requestId } = find('BODY_AS_PYTHON');
  const [finding] = (await diagnosed(requestId)).diagnosis?.findings ?? [];
  expect(finding?.difference?.offset).toBe('{"matterType":'.length);
  const { stdout } = await shownDiagnosed(requestId);
  expect(stdout).toContain('the first byte that differs: 14');
});

test('a list of entries brings no diagnosis, nor does a push that was let in', async () => {
  const { entries } = await query({ reason: 'SIGNATURE_MISMATCH' });
  expect(entries.length).toBeGreaterThan(5);
  expect(entries.filter((entry) => 'diagnosis' in entry)).toEqual([]);
  const body = { matterType: 'NOTICE', externalId: 'D-1', title: 'let in' };
  const { requestId } = await service.push('upsert', body, { secret });
  expect((await query({ requestId })).entries[0]).not.toHaveProperty('diagnosis');
});

test('without SECRET_KEYS the log is shown all the same', async () => {
  const { MONGO_URL } = service.env;
  const { requestId } = find('BODY_AS_PYTHON');
  const { exitCode, stdout, stderr } = await matterctl(['log', 'show', requestId], {
    // A service that was started in this folder keeps its keys in .data.
    env: { MONGO_URL, DATA_DIR: '.data-of-nobody' },
  });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringMatching(/SECRET_KEYS/),
  });
  expect(stdout).toContain('SIGNATURE_MISMATCH');
  expect(stdout).not.toContain('BODY_AS_PYTHON');
});

test('a stranger’s request is not recorded, and another system sees nothing of it', async () => {
  const seconds = Math.floor(Date.now() / 1000);
  const given = { clientId: 'nobody', secret, retired: '', path: PATH, seconds };
  const { text } = await send(signs(COMPACT)(given), 'nobody');
  expect(JSON.parse(text).reason).toBe('SIGNATURE_MISMATCH');
  const keyRing = createKeyRing([String(service.env.SECRET_KEYS)]);
  const admin = createClientAdmin(service.db, keyRing, Date.now);
  const other = await admin.create({ clientId: 'other', systemCode: 'OTHER' });
  const { requestId } = find('BODY_AS_PYTHON');
  const asked = {
    path: '/api/open/push-logs/query',
    clientId: 'other',
    secret: other.secret ?? '',
  };
  await untilKnown({ url: service.urlOf(), ...asked });
  const answer = await service.push('', { requestId }, asked);
  expect(answer.data).toEqual({ entries: [], nextCursor: null });
});

test('another client of the same system sees the request, but not what was wrong with it', async () => {
  const keyRing = createKeyRing([String(service.env.SECRET_KEYS)]);
  const { clientId } = service;
  const admin = createClientAdmin(service.db, keyRing, Date.now);
  const sibling = await admin.create({ clientId: 'sibling', systemCode: await systemOf(clientId) });
  // What it sent in the other's name is no way to ask about the other's secret.
  const { requestId } = find('SECRET_WHITE_SPACE');
  const asked = {
    path: '/api/open/push-logs/query',
    clientId: 'sibling',
    secret: sibling.secret ?? '',
  };
  await untilKnown({ url: service.urlOf(), ...asked });
  const answer = await service.push('', { requestId }, asked);
  const { entries } = answer.data as unknown as Awaited<ReturnType<typeof query>>;
  expect(entries).toMatchObject([{ requestId, clientId, reason: 'SIGNATURE_MISMATCH' }]);
  expect(entries[0]).not.toHaveProperty('diagnosis');
});

test('neither secrets nor signatures, sent or expected, stand anywhere', async () => {
  const told: string[] = [];
  for (const { requestId } of rejected) {
    told.push(JSON.stringify(await query({ requestId })), (await show(requestId)).stdout);
  }
  const stored = [
    await documentsOf(service.db, 'push_log'),
    await documentsOf(service.db, 'push_bodies'),
    logsOf(service),
    ...told,
  ].join('\n');
  const marks = rejected.flatMap(({ expected, wire }) => [
    ...[expected, Buffer.from(expected, 'hex').toString('base64'), wire.signature],
  ]);
  const secrets = [secret, service.secret];
  const found = [...secrets, ...marks].filter((mark) =>
    stored.toLowerCase().includes(mark.toLowerCase()),
  );
  expect(found).toEqual([]);
});
