/** The push-log entry of a request (contract 5.3). */
import { createHash } from 'node:crypto';
import { PushError } from '../../../src/protocol/errors';
import { idempotencyFingerprintOf } from '../../../src/pushes/idempotency';
import { type EntrySource, newEntry, rejectedEntry, replayedEntry } from '../../../src/pushes/push';
import { NOW } from '../../support/builders';

const rawBody = Buffer.from('{"title":"请假 hunter2"}');
const caller = { clientId: 'demo-oa', systemCode: 'OA', secretId: 's1' };
const source: EntrySource = {
  requestId: '0123456789abcdef01234567',
  caller,
  operation: 'upsert',
  idempotencyKey: 'key-1',
  rawBody,
  receivedAt: NOW,
};
const TIMEOUT = 10_000;
const entryOf = (over: Partial<EntrySource> = {}) => newEntry({ ...source, ...over }, TIMEOUT);
const idempotencyFingerprint = (over: Partial<EntrySource>) =>
  idempotencyFingerprintOf(entryOf(over));

test('an entry says who sent what when, and which secret signed', () => {
  const entry = entryOf();
  expect(String(entry._id)).toBe(source.requestId);
  expect(entry).toMatchObject({
    clientId: 'demo-oa',
    systemCode: 'OA',
    secretId: 's1',
    operation: 'upsert',
    idempotencyKey: 'key-1',
    bodyHash: createHash('sha256').update(rawBody).digest('hex'),
    bodySize: rawBody.length,
    receivedAt: new Date(NOW),
    deadlineAt: new Date(NOW + 10_000),
    state: 'QUEUED',
  });
});

test('the body itself is not kept', () => {
  expect(JSON.stringify(entryOf())).not.toContain('hunter2');
});

test('the same client, operation, key and body is the same push; anything else is not', () => {
  const same = idempotencyFingerprint({});
  expect(
    idempotencyFingerprint({
      requestId: 'f'.repeat(24),
      receivedAt: NOW + 1,
      caller: { ...caller, secretId: 's2' },
    }),
  ).toBe(same);
  const others: Partial<EntrySource>[] = [
    { caller: { ...caller, clientId: 'other' } },
    { operation: 'delete' },
    { idempotencyKey: 'key-2' },
    { rawBody: Buffer.from('{}') },
  ];
  for (const other of others) expect(idempotencyFingerprint(other)).not.toBe(same);
});

test('without a key there is an entry, and neither reuse nor replay', () => {
  const entry = entryOf({ idempotencyKey: undefined });
  expect(entry.state).toBe('QUEUED');
  expect(entry).not.toHaveProperty('idempotencyKey');
  expect(idempotencyFingerprintOf(entry)).toBeUndefined();
});

test('a rejected request can be found by its key, and is never replayed', () => {
  const errors = [{ field: 'parties[0].username', message: 'nobody' }];
  const rejected = rejectedEntry(entryOf(), new PushError('UNKNOWN_USER', { errors }), NOW + 5);
  expect(rejected).toMatchObject({
    state: 'REFUSED',
    result: 'UNKNOWN_USER',
    problems: errors,
    settledAt: new Date(NOW + 5),
    idempotencyKey: 'key-1',
  });
  expect(rejected).not.toHaveProperty('idempotencyFingerprint');
});

test('a retry that was answered from its first try points at it', () => {
  const first = { ...entryOf(), externalId: 'A-1', result: 'CREATED', matterId: 7n };
  const retry = entryOf({ requestId: 'f'.repeat(24) });
  expect(replayedEntry(retry, first, NOW + 5)).toMatchObject({
    _id: retry._id,
    state: 'REPLAYED',
    duplicateOf: first._id,
    externalId: 'A-1',
    result: 'CREATED',
    matterId: 7n,
    settledAt: new Date(NOW + 5),
  });
});

test('a client without a system code has an entry too', () => {
  expect(entryOf({ caller: { ...caller, systemCode: null } })).not.toHaveProperty('systemCode');
});
