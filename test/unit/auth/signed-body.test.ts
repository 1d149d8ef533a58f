/** A body is hashed once for each secret, and a large one leaves other requests their turn. */
import crypto from 'node:crypto';
import { authenticate, createSignedBody, type Secret } from '../../../src/auth/authenticate';
import { sign } from '../../../src/protocol/signature';
import type { KnownClient } from '../../../src/storage/directory';
import { NOW } from '../../support/builders';
import { countTurns } from '../../support/turns';

const TIMESTAMP = String(NOW / 1_000);
const SMALL = Buffer.from('{}');
const LARGE = Buffer.alloc(1024 * 1024, 'x');
const secrets: Secret[] = Array.from({ length: 12 }, (_, n) => ({
  id: `key-${n}`,
  secret: `secret ${n}`,
}));
const CLIENT: KnownClient = {
  ...{ clientId: 'oa', type: 'CONFIDENTIAL', enabled: true, systemCode: 'OA' },
  secrets,
};

const headersOf = (body: Buffer, secret = 'another secret') => ({
  clientId: 'oa',
  timestamp: TIMESTAMP,
  signature: sign(secret, 'oa', TIMESTAMP, body),
});
const signedBody = (body: Buffer, secret?: string) =>
  createSignedBody(headersOf(body, secret), body);

/** Authenticates as the middleware does: once more with a new look at the client where it is rejected. */
async function identify(
  body: Buffer,
  looks: readonly (KnownClient | undefined)[],
  secret?: string,
) {
  const headers = headersOf(body, secret);
  const signed = createSignedBody(headers, body);
  const left = [...looks];
  const lookUp = async () => (left.length > 1 ? left.shift() : left[0]);
  const terms = { headers, clock: () => NOW, minSecrets: secrets.length };
  const first = await authenticate(lookUp, signed, terms);
  return first.error ? authenticate(lookUp, signed, terms) : first;
}

afterEach(() => jest.restoreAllMocks());

test.each([
  ['small', SMALL],
  ['large', LARGE],
])('the signer of a %s body is found, and no other', async (_, body) => {
  for (const { id, secret } of secrets) {
    expect((await signedBody(body, secret).findSigner(secrets))?.id).toBe(id);
  }
  expect(await signedBody(body).findSigner(secrets)).toBeUndefined();
});

test.each([
  ['small', SMALL, 'a known client', CLIENT],
  ['large', LARGE, 'a known client', CLIENT],
  ['small', SMALL, 'a client with one secret', { ...CLIENT, secrets: secrets.slice(0, 1) }],
  ['large', LARGE, 'an unknown client', undefined],
])('a rejected %s body of %s is hashed once for each secret', async (_size, body, _who, client) => {
  const hmacs = jest.spyOn(crypto, 'createHmac');
  const hashes = jest.spyOn(crypto, 'createHash');
  const headers = headersOf(body);
  hmacs.mockClear();
  const signed = createSignedBody(headers, body);
  const terms = { headers, clock: () => NOW, minSecrets: secrets.length };
  for (const _attempt of [1, 2]) await authenticate(async () => client, signed, terms);
  expect(hmacs).toHaveBeenCalledTimes(secrets.length);
  expect(hashes).toHaveBeenCalledTimes(body === LARGE ? 1 : 0);
});

test('others have their turn before a large body is hashed, and while it is', async () => {
  const endCount = countTurns();
  const body = Buffer.alloc(32 * 1024 * 1024, 'x');
  await createSignedBody(headersOf(SMALL), body).findSigner(secrets);
  const turns = endCount();
  // 416 MiB: more than 10 ms of work on any machine, and many times that on most.
  expect(turns).toBeGreaterThan(3);
});

test('a large body has its digest, with a signer, without one, and before the search for one', async () => {
  const digest = {
    bodyHash: crypto.createHash('sha256').update(LARGE).digest('hex'),
    bodySize: LARGE.length,
  };
  for (const secret of [undefined, 'secret 3']) {
    const body = signedBody(LARGE, secret);
    await body.findSigner(secrets);
    expect(await body.digest()).toEqual(digest);
  }
  expect(await signedBody(LARGE).digest()).toEqual(digest);
  expect(await signedBody(SMALL).digest()).toBeUndefined();
});

test('a client that changes while a large body is hashed is the one that it has become', async () => {
  const disabled = { ...CLIENT, enabled: false };
  const [, ...others] = secrets;
  const signer = 'secret 0';
  expect((await identify(LARGE, [CLIENT, CLIENT], signer)).caller?.secretId).toBe('key-0');
  expect((await identify(LARGE, [CLIENT, disabled], signer)).error?.reason).toBe('CLIENT_DISABLED');
  const revoked = { ...CLIENT, secrets: others };
  expect((await identify(LARGE, [CLIENT, revoked], signer)).error?.reason).toBe(
    'SIGNATURE_MISMATCH',
  );
  expect((await identify(LARGE, [CLIENT, undefined], signer)).error?.reason).toBe(
    'SIGNATURE_MISMATCH',
  );
});

test('an id under which another secret is known by now is not the signer', async () => {
  const replaced = { ...CLIENT, secrets: [{ id: 'key-0', secret: 'a newer secret' }] };
  const { error } = await identify(LARGE, [CLIENT, replaced], 'secret 0');
  expect(error?.reason).toBe('SIGNATURE_MISMATCH');
});
