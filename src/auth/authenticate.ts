/** Authenticates signed requests. Contract 3.2 defines the order of the checks. */
import { createHash, type Hash, type Hmac } from 'node:crypto';
import type { Clock } from '../concurrency/timing';
import { TimeSlice } from '../concurrency/turns';
import { PushError } from '../protocol/errors';
import { TIMESTAMP, TIMESTAMP_WINDOW } from '../protocol/headers';
import { isSignatureForm, matches, startDigest, verify } from '../protocol/signature';
import type { ClientPause, KnownClient, QueryKeyTerms } from '../storage/directory';
import type { RateOverride } from '../storage/directory/rate-override';
import type { BodyDigest, RequestFields } from '../storage/push-log';
import type { AuthHeaders } from './auth-headers';

export interface Caller {
  readonly clientId: string;
  readonly systemCode: string;
  /** The id of the secret or query key that signed the request. */
  readonly secretId: string;
  /** The restrictions of the query key; absent if a secret of the client signed the request. */
  readonly queryKey?: QueryKeyTerms;
  /** Set while the client is paused. */
  readonly paused?: ClientPause;
  /** Set if the rate limit of the client differs from the default. */
  readonly limit?: RateOverride;
}

export interface SignedRequest {
  readonly requestId: string;
  readonly caller: Caller;
  /** When the whole request was received, epoch milliseconds. */
  readonly receivedAt: number;
  /** Lower-case hex. */
  readonly signature: string;
  /** X-Timestamp, epoch seconds. */
  readonly timestamp: number;
  readonly logged?: RequestFields | undefined;
}

export interface AuthenticationTerms {
  readonly headers: AuthHeaders;
  readonly clock: Clock;
  readonly minSecrets?: number;
}

/** `client` is undefined if the client id is unknown. */
export type Identification = { readonly client: KnownClient | undefined } & (
  | { readonly caller: Caller; readonly error?: never }
  | { readonly caller?: never; readonly error: PushError }
);

/** Calls `lookUp` again after the hashing of a large body, because the client may have changed. */
export async function authenticate(
  lookUp: () => Promise<KnownClient | undefined>,
  body: SignedBody,
  { headers, clock, minSecrets = 0 }: AuthenticationTerms,
): Promise<Identification> {
  const client = await lookUp();
  const checkedHeaders = toIdentification(client, () => checkHeaders(headers, clock()));
  if (checkedHeaders.error) return checkedHeaders;
  const signer = await body.findSigner(secretsToTry(client, clock(), minSecrets));
  const current = body.isLarge ? await lookUp() : client;
  return toIdentification(current, () => callerOf(current, signer, clock()));
}

function toIdentification<T>(client: KnownClient | undefined, check: () => T) {
  try {
    return { client, caller: check() };
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    return { client, error };
  }
}

/** @throws PushError TIMESTAMP_OUT_OF_WINDOW, or SIGNATURE_MISMATCH if the signature is not 64 hex digits */
export function checkHeaders({ timestamp, signature }: AuthHeaders, now: number): void {
  const seconds = TIMESTAMP.test(timestamp) ? Number(timestamp) : Number.POSITIVE_INFINITY;
  if (Math.abs(Math.floor(now / 1000) - seconds) > TIMESTAMP_WINDOW) {
    throw new PushError('TIMESTAMP_OUT_OF_WINDOW');
  }
  if (!isSignatureForm(signature)) throw new PushError('SIGNATURE_MISMATCH');
}

export type Secret = KnownClient['secrets'][number];

/** Excludes empty secrets, because anyone could sign with an empty secret. */
function usableSecrets(client: KnownClient | undefined): readonly Secret[] {
  return client?.type === 'CONFIDENTIAL' ? client.secrets.filter(({ secret }) => secret) : [];
}

/** Minimum secrets to try: during a rotation, a client has two secrets. */
const MIN_SECRETS = 2;

/** Adds dummy secrets, because the duration of a rejection must not reveal whether the client exists. */
export function secretsToTry(
  client: KnownClient | undefined,
  now: number,
  minSecrets: number,
): readonly Secret[] {
  const valid = usableSecrets(client).filter((secret) => isUnexpired(secret, now));
  const missing = Math.max(0, Math.max(MIN_SECRETS, minSecrets) - valid.length);
  // The dummy secrets must differ, because `findSigner` hashes the body only once for equal secrets.
  const dummies = Array.from({ length: missing }, (_, n) => ({ id: '', secret: `dummy ${n}` }));
  return [...valid, ...dummies];
}

/** A cached client can contain an expired query key. */
const isUnexpired = ({ queryKey }: Secret, now: number) => !queryKey || queryKey.endsAt > now;

/** @throws PushError NO_USABLE_SECRET, SIGNATURE_MISMATCH, CLIENT_DISABLED or NO_SYSTEM_CODE */
export function callerOf(
  client: KnownClient | undefined,
  signer: Secret | undefined,
  now: number,
): Caller {
  const usable = usableSecrets(client);
  const current = usable.find(({ id, secret }) => id === signer?.id && secret === signer.secret);
  if (client && !current && usable.every(({ queryKey }) => queryKey)) {
    throw new PushError('NO_USABLE_SECRET');
  }
  if (!client || !current || !isUnexpired(current, now)) throw new PushError('SIGNATURE_MISMATCH');
  if (!client.enabled) throw new PushError('CLIENT_DISABLED');
  if (!client.systemCode) throw new PushError('NO_SYSTEM_CODE');
  const { clientId, systemCode, limit, paused } = client;
  const { id: secretId, queryKey } = current;
  const optional = {
    ...(limit && { limit }),
    ...(paused && { paused }),
    ...(queryKey && { queryKey }),
  };
  return { clientId, systemCode, secretId, ...optional };
}

/** @throws PushError SCOPE_NOT_ALLOWED if a query key without the push scope signed the request */
export function checkMayPush({ queryKey }: Pick<Caller, 'queryKey'>): void {
  if (queryKey && !queryKey.mayPush) throw new PushError('SCOPE_NOT_ALLOWED');
}

/** Maximum bytes of one hash step. One step takes less than a millisecond. */
const SLICE = 64 * 1024;

export interface SignedBody {
  /** Whether the body is hashed in slices. */
  readonly isLarge: boolean;
  findSigner(secrets: readonly Secret[]): Promise<Secret | undefined>;
  /** Returns the SHA-256 hash and the size of a large body; undefined for a small body. */
  digest(): Promise<BodyDigest | undefined>;
}

/** Call `findSigner` only after `checkHeaders` has accepted the headers. */
export function createSignedBody(
  { clientId, timestamp, signature }: AuthHeaders,
  rawBody: Uint8Array,
): SignedBody {
  const isLarge = rawBody.length > SLICE;
  const slice = new TimeSlice();
  const results = new Map<string, boolean>();
  let hashed: BodyDigest | undefined;
  const digest = async () => {
    if (isLarge && !hashed) {
      await slice.next();
      const hash = await hashInSlices(createHash('sha256'), rawBody, slice);
      hashed = { bodyHash: hash.digest('hex'), bodySize: rawBody.length };
    }
    return hashed;
  };
  const isSignedWith = async (secret: string) => {
    if (!isLarge) return verify(secret, clientId, timestamp, rawBody, signature);
    const hmac = await hashInSlices(startDigest(secret, clientId, timestamp), rawBody, slice);
    return matches(hmac.digest(), signature);
  };
  const findSigner = async (secrets: readonly Secret[]) => {
    // Computes the digest for unknown clients, too, because the duration must not reveal whether the client exists.
    if (isLarge) await digest();
    for (const secret of secrets) {
      const isSigner = results.get(secret.secret) ?? (await isSignedWith(secret.secret));
      results.set(secret.secret, isSigner);
      if (isSigner) return secret;
    }
    return undefined;
  };
  return { isLarge, findSigner, digest };
}

async function hashInSlices<T extends Hash | Hmac>(
  hash: T,
  rawBody: Uint8Array,
  slice: TimeSlice,
): Promise<T> {
  for (let at = 0; at < rawBody.length; at += SLICE) {
    if (slice.isOver()) await slice.next();
    hash.update(rawBody.subarray(at, at + SLICE));
  }
  return hash;
}
