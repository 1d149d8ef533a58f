/**
 * Who sent this, and may they? The checks of decisions, "Authentication: which code", in their
 * order; the first failure answers.
 */
import type { KnownClient } from '../directory/clients';
import { PushError } from '../errors';
import type { AuthHeaders } from './auth-headers';
import { isSignatureForm, verify } from './signature';

/** ±300 seconds (specification 5.2). */
const WINDOW_SECONDS = 300;
const TIMESTAMP = /^\d{1,12}$/;
/** A refusal costs the work of two secrets, whether the client is unknown, has one or is rotating. */
const NOBODYS = { id: '', secret: 'a secret that nobody was ever given' };

export interface Caller {
  readonly clientId: string;
  readonly systemCode: string;
  /** Which of the client's secrets signed. */
  readonly secretId: string;
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
  checkTimestamp(headers.timestamp, now);
  const signer = checkSignature(client, headers, rawBody);
  if (!client?.enabled) throw new PushError('CLIENT_DISABLED');
  if (!client.systemCode) throw new PushError('NO_SYSTEM_CODE');
  return { clientId: client.clientId, systemCode: client.systemCode, secretId: signer };
}

function checkTimestamp(timestamp: string, now: number): void {
  const seconds = TIMESTAMP.test(timestamp) ? Number(timestamp) : Number.POSITIVE_INFINITY;
  if (Math.abs(Math.floor(now / 1000) - seconds) > WINDOW_SECONDS) {
    throw new PushError('TIMESTAMP_OUT_OF_WINDOW');
  }
}

/** @returns the id of the secret that signed */
function checkSignature(
  client: KnownClient | undefined,
  { clientId, timestamp, signature }: AuthHeaders,
  rawBody: Uint8Array,
): string {
  if (!isSignatureForm(signature)) throw new PushError('SIGNATURE_MISMATCH');
  const usable = client?.type === 'CONFIDENTIAL' ? client.secrets : [];
  const tried = [...usable, NOBODYS, NOBODYS].slice(0, Math.max(2, usable.length));
  const signer = tried.find(({ secret }) =>
    verify(secret, clientId, timestamp, rawBody, signature),
  );
  if (client && usable.length === 0) throw new PushError('NO_USABLE_SECRET');
  if (!client || !signer || signer === NOBODYS) throw new PushError('SIGNATURE_MISMATCH');
  return signer.id;
}
