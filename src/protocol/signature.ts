/** The signature (specification 5.1): HMAC-SHA256 over client id, timestamp and the raw bytes. */
import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { SIGNATURE } from './headers';

/** Signs a body. Also what a caller does: used by the tool and the tests. @returns lower-case hex */
export function sign(
  secret: string,
  clientId: string,
  timestamp: string,
  rawBody: Uint8Array | string,
): string {
  return digest(secret, clientId, timestamp, rawBody).toString('hex');
}

/** Whether a value has the form of a signature: 64 hex digits, either case. */
export function isSignatureForm(value: string): boolean {
  return SIGNATURE.test(value);
}

/** Compares in constant time. `signature` must have the form of one. */
export function verify(
  secret: string,
  clientId: string,
  timestamp: string,
  rawBody: Uint8Array,
  signature: string,
): boolean {
  return matches(digest(secret, clientId, timestamp, rawBody), signature);
}

/** The same for a body that comes in pieces: begins a digest that takes them. */
export function startDigest(secret: string, clientId: string, timestamp: string): Hmac {
  return createHmac('sha256', secret).update(`${clientId}\n${timestamp}\n`);
}

/** Compares in constant time. `signature` must have the form of one. */
export function matches(expected: Buffer, signature: string): boolean {
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

function digest(
  secret: string,
  clientId: string,
  timestamp: string,
  rawBody: Uint8Array | string,
): Buffer {
  return startDigest(secret, clientId, timestamp).update(rawBody).digest();
}
