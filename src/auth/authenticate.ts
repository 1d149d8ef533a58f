/**
 * Who sent this, and may they? The checks of decisions, "Authentication: which code", in their
 * order; the first failure answers.
 */
import type { Clock } from '../concurrency/clock';
import { PushError } from '../protocol/errors';
import { TIMESTAMP, TIMESTAMP_WINDOW } from '../protocol/headers';
import { isSignatureForm, matches, startDigest } from '../protocol/signature';
import type { ClientPause } from '../storage/directory/client-model';
import type { KnownClient, QueryKeyTerms } from '../storage/directory/clients';
import type { RateOverride } from '../storage/directory/rate-override';
import type { AuthHeaders } from './auth-headers';

/** Stand in for secrets that a client does not have. Each is another one, so that each costs a hash of the body. */
const NOBODYS = 'a secret that nobody was ever given';
const NOBODYS_ID = '';

export interface Caller {
  readonly clientId: string;
  readonly systemCode: string;
  /** Which of the client's secrets signed. */
  readonly secretId: string;
  /** Where that was a query key; absent: a secret of the client, which is good for everything. */
  readonly queryKey?: QueryKeyTerms;
  /** Its queries are answered, its pushes are not. */
  readonly paused?: ClientPause;
  /** The client's own rate, where it has one. */
  readonly limit?: RateOverride;
}

/** A body, and which of a client's secrets signed it. */
export interface SignedBody {
  /** It is hashed in slices: other requests have their turn before its signer is found. */
  readonly isLarge: boolean;
  /** Hashes the body once for each secret, however often a secret is asked for. */
  findSigner(secrets: readonly Secret[]): Promise<Secret | undefined>;
}

export interface AuthenticationTerms {
  readonly headers: AuthHeaders;
  readonly clock: Clock;
  /**
   * How many secrets are tried at least: a rejection is to cost the same, whether the client is unknown, has one
   * secret, is rotating or has query keys.
   */
  readonly trials?: number;
}

/** A request's client as the directory has it, and whether the request is its own. */
export type Identified =
  | { readonly client: KnownClient | undefined; readonly caller: Caller; readonly error?: never }
  | {
      readonly client: KnownClient | undefined;
      readonly caller?: never;
      /** Names the first check that failed. */
      readonly error: PushError;
    };

/**
 * @param lookUp what the directory knows under the client id of the headers. Called again after a large body was
 *   hashed: the client may have changed in the meantime
 * @throws what `lookUp` throws
 */
export async function authenticate(
  lookUp: () => Promise<KnownClient | undefined>,
  body: SignedBody,
  { headers, clock, trials = 0 }: AuthenticationTerms,
): Promise<Identified> {
  const client = await lookUp();
  const inForm = identified(client, () => checkHeaders(headers, clock()));
  if (inForm.error) return inForm;
  const signer = await body.findSigner(secretsToTry(client, clock(), trials));
  const current = body.isLarge ? await lookUp() : client;
  return identified(current, () => callerOf(current, signer, clock()));
}

/** @returns what `check` does, or the rejection that it throws */
function identified<T>(client: KnownClient | undefined, check: () => T) {
  try {
    return { client, caller: check() };
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    return { client, error };
  }
}

/** The caller of a request whose body comes in pieces and is not kept. */
export interface Authentication {
  update(chunk: Uint8Array): void;
  /**
   * To be called once, after the last piece.
   *
   * @param client what the directory knows by now: the body may have taken minutes
   * @throws PushError as `authenticate`
   */
  finish(client: KnownClient | undefined): Caller;
}

/**
 * The same checks in the same order; the checks that need no body are made at once. What depends on the
 * client waits for the end, so that nothing about clients shows before a signature.
 *
 * @param client its secrets are tried; one that it gets later is not
 * @throws PushError TIMESTAMP_OUT_OF_WINDOW or, where the signature has not the form of one,
 *   SIGNATURE_MISMATCH
 */
export function startAuthentication(
  client: KnownClient | undefined,
  { headers, clock, trials = 0 }: AuthenticationTerms,
): Authentication {
  const { clientId, timestamp, signature } = headers;
  const now = clock();
  checkHeaders(headers, now);
  const tried = secretsToTry(client, now, trials).map((signer) => ({
    signer,
    digest: startDigest(signer.secret, clientId, timestamp),
  }));
  return {
    update: (chunk) => {
      for (const { digest } of tried) digest.update(chunk);
    },
    finish: (current) => {
      const found = tried.find(({ digest }) => matches(digest.digest(), signature));
      return callerOf(current, found?.signer, clock());
    },
  };
}

function checkHeaders({ timestamp, signature }: AuthHeaders, now: number): void {
  const seconds = TIMESTAMP.test(timestamp) ? Number(timestamp) : Number.POSITIVE_INFINITY;
  if (Math.abs(Math.floor(now / 1000) - seconds) > TIMESTAMP_WINDOW) {
    throw new PushError('TIMESTAMP_OUT_OF_WINDOW');
  }
  if (!isSignatureForm(signature)) throw new PushError('SIGNATURE_MISMATCH');
}

export type Secret = KnownClient['secrets'][number];

/** An empty secret is none: everybody could sign with it. */
function usableSecrets(client: KnownClient | undefined): readonly Secret[] {
  return client?.type === 'CONFIDENTIAL' ? client.secrets.filter(({ secret }) => secret) : [];
}

/** While it rotates, a client without query keys has two. */
const FEWEST_TRIALS = 2;

function secretsToTry(
  client: KnownClient | undefined,
  now: number,
  trials: number,
): readonly Secret[] {
  const working = usableSecrets(client).filter((secret) => isWorking(secret, now));
  const missing = Math.max(0, Math.max(FEWEST_TRIALS, trials) - working.length);
  const standIns = Array.from({ length: missing }, (_, n) => ({
    id: NOBODYS_ID,
    secret: n === 0 ? NOBODYS : `${NOBODYS} ${n}`,
  }));
  return [...working, ...standIns];
}

/** What is known of clients may be a second old; a key is good for nothing from the moment of its end. */
const isWorking = ({ queryKey }: Secret, now: number) => !queryKey || queryKey.endsAt > now;

/** @param signer whose secret signed, if any of those tried; the client may not have it any more */
function callerOf(
  client: KnownClient | undefined,
  signer: Secret | undefined,
  now: number,
): Caller {
  const owned = usableSecrets(client);
  const own = owned.find(({ id, secret }) => id === signer?.id && secret === signer.secret);
  if (client && !own && owned.every(({ queryKey }) => queryKey)) {
    throw new PushError('NO_USABLE_SECRET');
  }
  if (!client || !own || !isWorking(own, now)) throw new PushError('SIGNATURE_MISMATCH');
  if (!client.enabled) throw new PushError('CLIENT_DISABLED');
  if (!client.systemCode) throw new PushError('NO_SYSTEM_CODE');
  const { clientId, systemCode, limit, paused } = client;
  const { id: secretId, queryKey } = own;
  const more = {
    ...(limit && { limit }),
    ...(paused && { paused }),
    ...(queryKey && { queryKey }),
  };
  return { clientId, systemCode, secretId, ...more };
}

/** @throws PushError SCOPE_NOT_ALLOWED where a query key signed that may not push */
export function checkMayPush({ queryKey }: Pick<Caller, 'queryKey'>): void {
  if (queryKey && !queryKey.mayPush) throw new PushError('SCOPE_NOT_ALLOWED');
}
