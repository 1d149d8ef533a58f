/** Patterns of request headers (contract 2.2), and headers of responses. */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';

/** Unix time in seconds. */
export const TIMESTAMP = /^\d{1,12}$/;
/** Maximum seconds between X-Timestamp and the time of the service (contract 2.2). */
export const TIMESTAMP_WINDOW = 300;
/** HMAC-SHA256 in hex, in upper or lower case. */
export const SIGNATURE = /^[0-9a-fA-F]{64}$/;
/** 1 to 255 printable ASCII characters; the first and the last character are not blank (contract 2.2). */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

export const API_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** @returns a strong ETag */
export function etagOf(bytes: Buffer): string {
  const digest = createHash('sha256').update(bytes).digest('base64url');
  return `"${digest.slice(0, 27)}"`;
}

/** Captures the IPv6 address (in brackets) or the host name of a Host header. */
const HOST = /^(?:\[([\da-f:.]+)\]|([^[\]:@,\s]+))(?::\d{1,5})?$/i;

/**
 * Protects answers to unsigned requests against DNS rebinding.
 *
 * @param header the Host header. A request without this header is accepted, because browsers always send the header.
 * @param ownNames accepted host names in addition to `localhost`; IP addresses are always accepted
 */
export function isAcceptedHost(header: string | undefined, ...ownNames: string[]): boolean {
  if (header === undefined) return true;
  const [, ipv6, name = ''] = HOST.exec(header) ?? [];
  if (ipv6 !== undefined) return isIP(ipv6) === 6;
  const host = plain(name);
  return host !== '' && (isIP(host) === 4 || ['localhost', ...ownNames.map(plain)].includes(host));
}

const plain = (name: string) => name.toLowerCase().replace(/\.$/, '');
