/**
 * After pushes of every fate, with known marks in all that is confidential: no log, no job, no key
 * in Redis and no entry of the push log holds what it must not.
 */
import { gzipSync } from 'node:zlib';
import { PARTITION_JOB_QUEUE } from '../../../src/queue/keys';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { importUsers } from '../../../src/storage/directory/user-admin';
import { type Heard, type Hostile, masterKeys, send } from '../../support/hostile-guard';
import { documentsOf, logsOf, redisDump } from '../../support/hostile-search';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

/** 32 bytes that one would recognize. */
const MASTER = 'MARK-master-key-0123456789abcdef';
const SECRET = 'MARK-secret-of-the-client';
const RETIRED = 'MARK-secret-being-rotated-out';
/** Of bodies: what people write, and who they are. */
const IN_BODIES = {
  title: 'MARK-title',
  content: 'MARK-content',
  payload: 'MARK-payload',
  label: 'MARK-label',
  party: 'mark-party',
  nobody: 'mark-nobody',
};
const CLIENT = 'marked';

let service: Service;
const sealed: string[] = [];
const signatures: string[] = [];
beforeAll(async () => {
  const key = `marked:${Buffer.from(MASTER).toString('base64')}`;
  const env = { SECRET_KEYS: key, LOG_LEVEL: 'trace' };
  service = await startService({ processes: 'workers', env });
  await service.startWeb({ PUSH_TIMEOUT: '8s' });
  const ring = createKeyRing([key]);
  sealed.push(ring.seal(SECRET, CLIENT), ring.seal(RETIRED, CLIENT));
  const createdAt = new Date();
  const [current, retired] = sealed.map((seal, n) => ({ id: `s${n}`, sealed: seal, createdAt }));
  const client = {
    ...{ _id: CLIENT, type: 'CONFIDENTIAL', systemCode: 'TEST', enabled: true, createdAt },
    secrets: [
      { ...current, expiresAt: null },
      { ...retired, expiresAt: new Date(Date.now() + 3_600_000) },
    ],
  };
  await service.db.collection<{ _id: string }>('clients').insertOne(client);
  await importUsers(service.db, [{ username: IN_BODIES.party, displayName: 'MARK-display-name' }]);
});
afterAll(() => service.stop());

const body = (externalId: string, more: object = {}) => ({
  ...{ matterType: 'TODO', externalId, title: IN_BODIES.title, content: IN_BODIES.content },
  payloadJson: JSON.stringify({ note: IN_BODIES.payload }),
  externalStatusLabel: IN_BODIES.label,
  parties: [{ username: IN_BODIES.party, partyRole: 'ASSIGNEE' }],
  ...more,
});
const TEXT = JSON.stringify(body('KEPT'));

/** Sends, signed by the marked client; remembers the signature. @param web 1: the one whose callers wait for seconds only */
const push = (
  sent: unknown,
  more: Partial<Hostile> = {},
  secret = SECRET,
  web = 0,
): Promise<Heard> => {
  const { headers = (signed) => signed } = more;
  const remembered: Hostile['headers'] = (signed) => {
    signatures.push(...signed.flatMap(([name, value]) => (name === 'X-Signature' ? value : [])));
    return headers(signed);
  };
  const as = { clientId: CLIENT, secret, ...more.as };
  const at = { ...service, urlOf: () => service.urlOf(web) };
  return send(at, { path: 'matters/upsert', ...more, body: sent, as, headers: remembered });
};
const keyed: Hostile['headers'] = (signed) => [...signed, ['X-Idempotency-Key', 'mark-1']];

/** What may stand nowhere in any form, but for the sealed secrets in the directory. */
const confidential = () => {
  const plain = [SECRET, RETIRED, MASTER, service.secret];
  const encoded = (['hex', 'base64', 'base64url'] as const).flatMap((encoding) =>
    plain.map((text) => Buffer.from(text).toString(encoding)),
  );
  const whole = signatures.flatMap((one) => [one, one.toUpperCase()]);
  return [...plain, ...encoded, ...masterKeys(service.env), ...sealed, ...whole];
};
const foundIn = (text: string, marks: readonly string[]) =>
  marks.filter((mark) => text.includes(mark));
const inBodies = Object.values(IN_BODIES);

const OPERATIONS = [
  ['matters/status', { bizStatus: 'DONE', externalStatusLabel: IN_BODIES.label }],
  ['matters/reopen', { externalStatusLabel: IN_BODIES.label }],
  ['matters/delete', { note: IN_BODIES.content }],
] as const;

const replaced =
  (header: string, by: string): Hostile['headers'] =>
  (signed) =>
    signed.map(([name, value]) => [name, name === header ? by : value]);
const late = { as: { timestamp: '1700000000' } };
const REFUSED: readonly (readonly [string, () => Promise<Heard>])[] = [
  ['VALIDATION_FAILED', () => push(body('BAD', { title: { [IN_BODIES.title]: 1 } }))],
  ['VALIDATION_FAILED', () => push(body('BAD', { payloadJson: `{"${IN_BODIES.payload}"` }))],
  [
    'UNKNOWN_USER',
    () => push(body('BAD', { parties: [{ username: IN_BODIES.nobody, partyRole: 'CC' }] })),
  ],
  // The parser's own message would quote the text.
  ['INVALID_JSON', () => push(`{"title":${IN_BODIES.title}}`)],
  ['INVALID_JSON', () => push(TEXT.slice(0, -1))],
  ['INVALID_ENCODING', () => push(Buffer.concat([Buffer.from(TEXT), Buffer.from([0xff])]))],
  ['BODY_TOO_LARGE', () => push(TEXT + ' '.repeat(1_100_000))],
  [
    'UNSUPPORTED_ENCODING',
    () => push(gzipSync(TEXT), { headers: (all) => [...all, ['Content-Encoding', 'gzip']] }),
  ],
  ['TIMESTAMP_OUT_OF_WINDOW', () => push(TEXT, late)],
  ['SIGNATURE_MISMATCH', () => push(TEXT, {}, 'MARK-some-other-secret')],
  // What callers send in place of a signature or a time may be the secret itself.
  ['SIGNATURE_MISMATCH', () => push(TEXT, { headers: replaced('X-Signature', SECRET) })],
  ['TIMESTAMP_OUT_OF_WINDOW', () => push(TEXT, { headers: replaced('X-Timestamp', SECRET) })],
  ['HMAC_HEADERS_MISSING', () => push(TEXT, { headers: (all) => [...all, ...all] })],
  ['MATTER_NOT_FOUND', () => push(body('NONE'), { path: 'matters/status' })],
  // Sealed under a key that the service does not have: the log says so.
  [
    'NO_USABLE_SECRET',
    () => push(TEXT, { as: { clientId: service.clientId, secret: service.secret } }),
  ],
];

test('accepted, replayed and signed by the secret that goes', async () => {
  expect(await push(body('KEPT'), { headers: keyed })).toMatchObject({ code: 0 });
  const again = await push(body('KEPT'), { headers: keyed });
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(await push(body('KEPT', { n: 2 }), {}, RETIRED)).toMatchObject({ code: 0 });
  for (const [path, more] of OPERATIONS) {
    expect(await push({ externalId: 'KEPT', ...more }, { path })).toMatchObject({ code: 0 });
  }
  const query = { path: 'push-logs/query' };
  expect(await push({ includeBody: true, limit: 50 }, query)).toMatchObject({ code: 0 });
});

test.each(REFUSED)('rejected: %s', async (reason, sent) => {
  expect(await sent()).toMatchObject({ reason });
});

test('failed: a matter that was spoilt by hand', async () => {
  expect(await push(body('SPOILT'))).toMatchObject({ code: 0 });
  const spoilt = { $set: { parties: IN_BODIES.party } };
  await service.db.collection('matters').updateOne({ externalId: 'SPOILT' }, spoilt);
  expect(await push(body('SPOILT', { n: 2 }))).toMatchObject({ reason: 'OPERATION_FAILED' });
  // The worker writes its log beside its replies.
  await until('its line', async () =>
    logsOf(service).includes('gave up the pushes of a matter after failed commits'),
  );
});

test('expired: while it waits its partition holds the operation; no job and no other key does', async () => {
  const dump = () => redisDump(testServers().redisUrl, service.env);
  for (const worker of service.workers) worker.kill('SIGSTOP');
  const isPartition = (key: string) => key.includes(':partition:');
  try {
    const answer = push(body('LATE'), {}, SECRET, 1);
    const isJob = new RegExp(`:${PARTITION_JOB_QUEUE}:\\d+$`);
    const waiting = await until('the push in its partition', async () => {
      const keys = await dump();
      return (
        [...keys.keys()].some(isPartition) &&
        [...keys.keys()].some((key) => isJob.test(key)) &&
        keys
      );
    });
    const partitions = [...waiting].filter(([key]) => isPartition(key)).join();
    const others = [...waiting].filter(([key]) => !isPartition(key)).join();
    expect(foundIn(partitions, inBodies)).toEqual(
      inBodies.filter((mark) => mark !== IN_BODIES.nobody),
    );
    expect(foundIn(partitions + others, confidential())).toEqual([]);
    expect(foundIn(others, inBodies)).toEqual([]);
    expect(await answer).toMatchObject({ reason: 'CONFIRMATION_TIMEOUT' });
  } finally {
    for (const worker of service.workers) worker.kill('SIGCONT');
  }
  const after = await until('the partition to be empty', async () => {
    const keys = await dump();
    return ![...keys.keys()].some(isPartition) && keys;
  });
  expect(foundIn([...after].join(), [...inBodies, ...confidential()])).toEqual([]);
});

test('no log of any process holds a secret, a key, a signature or a word of a body', async () => {
  // They are the logs of what was sent here, at the level that says most.
  const said = [
    '"level":30',
    'MATTER_NOT_FOUND',
    'CONFIRMATION_TIMEOUT',
    'could not decrypt a secret',
  ];
  const logs = await until(`the logs to say ${said}`, async () => {
    const text = logsOf(service);
    return foundIn(text, said).length === said.length && text;
  });
  const halves = signatures.map((signature) => signature.slice(0, 32));
  const marks = [...confidential(), ...halves, ...inBodies, 'MARK-', 'MARK-display-name'];
  expect(foundIn(logs, marks)).toEqual([]);
});

test('the push log holds no secret and no text; bodies lie apart, and hold no secret either', async () => {
  const entries = await documentsOf(service.db, 'push_log');
  expect(foundIn(entries, ['OPERATION_FAILED'])).toHaveLength(1);
  const { title, content, payload, label } = IN_BODIES;
  expect(foundIn(entries, [...confidential(), title, content, payload, label])).toEqual([]);
  const bodies = await documentsOf(service.db, 'push_bodies');
  expect(foundIn(bodies, inBodies)).toEqual(inBodies);
  expect(foundIn(bodies, confidential())).toEqual([]);
});

test('the directory holds the secrets sealed', async () => {
  const clients = await documentsOf(service.db, 'clients');
  expect(foundIn(clients, sealed)).toEqual(sealed);
  const marks = confidential().filter((mark) => !sealed.includes(mark));
  expect(foundIn(clients, marks)).toEqual([]);
});
