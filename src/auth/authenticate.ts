/**
 * Authenticates signed requests. Contract 3.2 has the order of the checks. The first failed check determines the error.
 */
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

/** The authenticated sender of a request. */
export interface Caller {
  readonly clientId: string;
  readonly systemCode: string;
  /** The id of the secret or query key that signed the request. */
  readonly secretId: string;
  /** The restrictions of the query key that signed the request. Absent if a secret of the client signed the request. */
  readonly queryKey?: QueryKeyTerms;
  /** Set if an operator has paused the client: its pushes are rejected, but its queries are answered. */
  readonly paused?: ClientPause;
  /** The rate limit of this client, if it differs from the default. */
  readonly limit?: RateOverride;
}

/** An authenticated request, as the routes see it. */
export interface SignedRequest {
  readonly requestId: string;
  readonly caller: Caller;
  /** When the whole request was received, epoch milliseconds. */
  readonly receivedAt: number;
  /** Lower-case hex. */
  readonly signature: string;
  /** X-Timestamp, epoch seconds. */
  readonly timestamp: number;
  /** Fields of the HTTP request for the push-log entry. */
  readonly logged?: RequestFields | undefined;
}

export interface AuthenticationTerms {
  readonly headers: AuthHeaders;
  readonly clock: Clock;
  /** Minimum length of the list of secrets to try; see `secretsToTry`. */
  readonly minSecrets?: number;
}

/**
 * The result of the authentication: the caller, or the error of the first failed check. `client` is the client that
 * X-Client-Id names; undefined if the directory does not know this client.
 */
export type Identification = { readonly client: KnownClient | undefined } & (
  | { readonly caller: Caller; readonly error?: never }
  | { readonly caller?: never; readonly error: PushError }
);

/**
 * Authenticates a request with a complete body.
 *
 * @param lookUp returns the client that X-Client-Id names. Called a second time after a large body was hashed, because
 *   the client can change during the hashing
 * @throws the errors of `lookUp`
 */
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

/** @returns the client, with the result of `check` or with the PushError that `check` throws */
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

/** The secrets of a confidential client. An empty secret is not used, because anyone could sign with it. */
function usableSecrets(client: KnownClient | undefined): readonly Secret[] {
  return client?.type === 'CONFIDENTIAL' ? client.secrets.filter(({ secret }) => secret) : [];
}

/** Minimum number of secrets to try for a request: the number of secrets that a client has during a rotation. */
const MIN_SECRETS = 2;

/**
 * Returns the usable secrets and, if necessary, dummy secrets: together at least `minSecrets` and at least MIN_SECRETS.
 * Without the dummy secrets, the duration of a rejection would reveal whether the client exists, and how many secrets
 * and query keys the client has.
 *
 * @param minSecrets minimum length of the result: the largest number of secrets and query keys that any client has
 */
export function secretsToTry(
  client: KnownClient | undefined,
  now: number,
  minSecrets: number,
): readonly Secret[] {
  const valid = usableSecrets(client).filter((secret) => isUnexpired(secret, now));
  const missing = Math.max(0, Math.max(MIN_SECRETS, minSecrets) - valid.length);
  // The dummy secrets differ: `findSigner` hashes the body once for each different secret, so equal dummy secrets would
  // save time.
  const dummies = Array.from({ length: missing }, (_, n) => ({ id: '', secret: `dummy ${n}` }));
  return [...valid, ...dummies];
}

/** This check is needed because a query key can expire after the directory has read the client. */
const isUnexpired = ({ queryKey }: Secret, now: number) => !queryKey || queryKey.endsAt > now;

/**
 * Checks the client and the secret that signed the request.
 *
 * @param client the client as last read; the secret `signer` may have been removed from the client
 * @param signer the secret that signed the request, if it was found
 * @throws PushError NO_USABLE_SECRET, SIGNATURE_MISMATCH, CLIENT_DISABLED or NO_SYSTEM_CODE
 */
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

/** Maximum bytes of one hash step, which takes a fraction of a millisecond. A larger body is hashed in slices. */
const SLICE = 64 * 1024;

/** The body of a signed request. */
export interface SignedBody {
  /** Whether the body is hashed in slices. Other requests run between two slices. */
  readonly isLarge: boolean;
  /** Finds the secret that signed the request. A second call is cheap, because the result of each secret is cached. */
  findSigner(secrets: readonly Secret[]): Promise<Secret | undefined>;
  /** Hash and size of a large body, known after the first `findSigner`. Undefined for a small body. */
  digest(): BodyDigest | undefined;
}

/** @param headers `findSigner` requires that the signature in these headers is 64 hex digits */
export function createSignedBody(
  { clientId, timestamp, signature }: AuthHeaders,
  rawBody: Uint8Array,
): SignedBody {
  const isLarge = rawBody.length > SLICE;
  const slice = new TimeSlice();
  const results = new Map<string, boolean>();
  let digest: BodyDigest | undefined;
  const isSignedWith = async (secret: string) => {
    if (!isLarge) return verify(secret, clientId, timestamp, rawBody, signature);
    const hmac = await hashInSlices(startDigest(secret, clientId, timestamp), rawBody, slice);
    return matches(hmac.digest(), signature);
  };
  const findSigner = async (secrets: readonly Secret[]) => {
    if (isLarge && !digest) {
      await slice.next();
      // The body is hashed for unknown clients too: the time of a rejection must not reveal which clients exist.
      const hash = await hashInSlices(createHash('sha256'), rawBody, slice);
      digest = { bodyHash: hash.digest('hex'), bodySize: rawBody.length };
    }
    for (const secret of secrets) {
      const isSigner = results.get(secret.secret) ?? (await isSignedWith(secret.secret));
      results.set(secret.secret, isSigner);
      if (isSigner) return secret;
    }
    return undefined;
  };
  return { isLarge, findSigner, digest: () => digest };
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
