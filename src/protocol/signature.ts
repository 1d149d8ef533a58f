/** The signature (contract 3.1): HMAC-SHA256 over client id, timestamp and the bytes of the body. */
import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { SIGNATURE } from './headers';

/** For tools and tests. @returns lower-case hex */
export function sign(
  secret: string,
  clientId: string,
  timestamp: string,
  rawBody: Uint8Array | string,
): string {
  return digest(secret, clientId, timestamp, rawBody).toString('hex');
}

/** 64 hex digits in upper or lower case. */
export function isSignatureForm(value: string): boolean {
  return SIGNATURE.test(value);
}

/** @param signature must pass `isSignatureForm` */
export function verify(
  secret: string,
  clientId: string,
  timestamp: string,
  rawBody: Uint8Array,
  signature: string,
): boolean {
  return matches(digest(secret, clientId, timestamp, rawBody), signature);
}

/** Starts the signature with client id and timestamp. The caller appends the bytes of the body. */
export function startDigest(secret: string, clientId: string, timestamp: string): Hmac {
  return createHmac('sha256', secret).update(`${clientId}\n${timestamp}\n`);
}

/** Compares in constant time. @param signature must pass `isSignatureForm` */
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
