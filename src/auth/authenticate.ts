/**
 * Who sent this, and may they? The checks of decisions, "Authentication: which code", in their
 * order; the first failure answers.
 */

import { PushError } from '../protocol/errors';
import { TIMESTAMP, TIMESTAMP_WINDOW } from '../protocol/headers';
import { isSignatureForm, matches, startDigest, verify } from '../protocol/signature';
import type { ClientPause } from '../storage/directory/client-model';
import type { KnownClient, QueryKeyTerms } from '../storage/directory/clients';
import type { RateOverride } from '../storage/directory/rate-override';
import type { AuthHeaders } from './auth-headers';

/** Stands in for secrets that a client does not have. */
const NOBODYS = { id: '', secret: 'a secret that nobody was ever given' };

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

/**
 * @param client what the directory knows under the client id of the headers
 * @param now epoch milliseconds
 * @param trials how many secrets are tried at least: a rejection is to cost the same, whether the client
 *   is unknown, has one secret, is rotating or has query keys
 * @throws PushError naming the first check that failed
 */
export function authenticate(
  client: KnownClient | undefined,
  headers: AuthHeaders,
  rawBody: Uint8Array,
  now: number,
  trials = 0,
): Caller {
  const { clientId, timestamp, signature } = headers;
  checkHeaders(headers, now);
  const signer = secretsToTry(client, now, trials).find(({ secret }) =>
    verify(secret, clientId, timestamp, rawBody, signature),
  );
  return callerOf(client, signer);
}

/** The caller of a request whose body comes in pieces. */
export interface Authentication {
  update(chunk: Uint8Array): void;
  /** To be called once, after the last piece. @throws PushError as `authenticate` */
  finish(): Caller;
}

/**
 * The same checks in the same order; the checks that need no body are made at once. What depends on the
 * client waits for the end, so that nothing about clients shows before a signature.
 *
 * @throws PushError TIMESTAMP_OUT_OF_WINDOW or, where the signature has not the form of one,
 *   SIGNATURE_MISMATCH
 */
export function startAuthentication(
  client: KnownClient | undefined,
  headers: AuthHeaders,
  now: number,
  trials = 0,
): Authentication {
  const { clientId, timestamp, signature } = headers;
  checkHeaders(headers, now);
  const tried = secretsToTry(client, now, trials).map((signer) => ({
    signer,
    digest: startDigest(signer.secret, clientId, timestamp),
  }));
  return {
    update: (chunk) => {
      for (const { digest } of tried) digest.update(chunk);
    },
    finish: () => {
      const found = tried.find(({ digest }) => matches(digest.digest(), signature));
      return callerOf(client, found?.signer);
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

type Secret = KnownClient['secrets'][number];

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
  // What is known of clients may be a second old; a key is good for nothing from the moment of its end.
  const usable = usableSecrets(client).filter(({ queryKey }) => !queryKey || queryKey.endsAt > now);
  const missing = Math.max(FEWEST_TRIALS, trials) - usable.length;
  return [...usable, ...Array<Secret>(Math.max(0, missing)).fill(NOBODYS)];
}

/** @param signer whose secret signed, if any of those tried */
function callerOf(client: KnownClient | undefined, signer: Secret | undefined): Caller {
  const owned = usableSecrets(client);
  const isNobodys = !signer || signer === NOBODYS;
  if (client && isNobodys && owned.every(({ queryKey }) => queryKey)) {
    throw new PushError('NO_USABLE_SECRET');
  }
  if (!client || isNobodys) throw new PushError('SIGNATURE_MISMATCH');
  if (!client.enabled) throw new PushError('CLIENT_DISABLED');
  if (!client.systemCode) throw new PushError('NO_SYSTEM_CODE');
  const { clientId, systemCode, limit, paused } = client;
  const { id: secretId, queryKey } = signer;
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
