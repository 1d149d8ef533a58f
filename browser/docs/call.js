/** Builds and sends a signed request. */
import { signature, signedText } from './sign.js';

/** @typedef {import('./shapes').SignedCall} SignedCall */

/**
 * @param {{ url: string, clientId: string, secret: string, key: string, body: string, type: string }} call
 *   `key`: the idempotency key, or an empty text
 * @param {number} now epoch milliseconds
 * @returns {SignedCall}
 */
export function signCall({ url, clientId, secret, key, body, type }, now) {
  const timestamp = String(Math.floor(now / 1000));
  const signed = signedText({ clientId, timestamp, body });
  const headers = {
    'Content-Type': type,
    'X-Client-Id': clientId,
    'X-Timestamp': timestamp,
    'X-Signature': signature(secret, signed),
    ...(key && { 'X-Idempotency-Key': key }),
  };
  return { url, headers, body, signed };
}

/**
 * @param {SignedCall} call
 * @throws {TypeError} if there is no answer
 */
export async function send({ url, headers, body }) {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: new TextEncoder().encode(body),
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
