/**
 * Who sent this, and may they? The checks of decisions, "Authentication: which code", in their
 * order; the first failure answers.
 */

import { PushError } from '../protocol/errors';
import { TIMESTAMP, TIMESTAMP_WINDOW } from '../protocol/headers';
import { isSignatureForm, matches, startDigest, verify } from '../protocol/signature';
import type { ClientPause } from '../storage/directory/client-model';
import type { KnownClient } from '../storage/directory/clients';
import type { RateOverride } from '../storage/directory/rate-override';
import type { AuthHeaders } from './auth-headers';

/** A rejection costs the work of two secrets, whether the client is unknown, has one or is rotating. */
const NOBODYS = { id: '', secret: 'a secret that nobody was ever given' };

export interface Caller {
  readonly clientId: string;
  readonly systemCode: string;
  /** Which of the client's secrets signed. */
  readonly secretId: string;
  /** Its queries are answered, its pushes are not. */
  readonly paused?: ClientPause;
  /** The client's own rate, where it has one. */
  readonly limit?: RateOverride;
}

/**
 * @param client what the directory knows under the client id of the headers
 * @param now epoch milliseconds
 * @throws PushError naming the first check that failed
 */
export function authenticate(
  client: KnownClient | undefined,
  headers: AuthHeaders,
  rawBody: Uint8Array,
  now: number,
): Caller {
  const { clientId, timestamp, signature } = headers;
  checkHeaders(headers, now);
  const signer = secretsToTry(client).find(({ secret }) =>
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
): Authentication {
  const { clientId, timestamp, signature } = headers;
  checkHeaders(headers, now);
  const tried = secretsToTry(client).map((signer) => ({
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

function secretsToTry(client: KnownClient | undefined): readonly Secret[] {
  const usable = usableSecrets(client);
  return [...usable, NOBODYS, NOBODYS].slice(0, Math.max(2, usable.length));
}

/** @param signer whose secret signed, if any of those tried */
function callerOf(client: KnownClient | undefined, signer: Secret | undefined): Caller {
  if (client && usableSecrets(client).length === 0) throw new PushError('NO_USABLE_SECRET');
  if (!client || !signer || signer === NOBODYS) throw new PushError('SIGNATURE_MISMATCH');
  if (!client.enabled) throw new PushError('CLIENT_DISABLED');
  if (!client.systemCode) throw new PushError('NO_SYSTEM_CODE');
  const { clientId, systemCode, limit, paused } = client;
  const more = { ...(limit && { limit }), ...(paused && { paused }) };
  return { clientId, systemCode, secretId: signer.id, ...more };
}
