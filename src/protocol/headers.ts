/** The forms of request headers (contract 2.2), and headers of responses. */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';

/** Unix time in seconds. The signature covers the unchanged text of the header. */
export const TIMESTAMP = /^\d{1,12}$/;
/** Maximum seconds between X-Timestamp and the time of the service (contract 2.2). */
export const TIMESTAMP_WINDOW = 300;
/** HMAC-SHA256 in hex, either case. */
export const SIGNATURE = /^[0-9a-fA-F]{64}$/;
/**
 * 1 to 255 printable characters, without blanks at the ends (contract 2.2). HTTP strips such blanks from a header, but
 * a line of a batch keeps them. So a key with such blanks would differ between a single push and a batch.
 */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** No cache may store a response, and no browser may guess its type. */
export const API_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** @returns a strong ETag: different bytes have different ETags */
export function etagOf(bytes: Buffer): string {
  const digest = createHash('sha256').update(bytes).digest('base64url');
  return `"${digest.slice(0, 27)}"`;
}

/** The form of a Host header: a host, or an IPv6 address in brackets, and optionally a port. */
const HOST = /^(?:\[([\da-f:.]+)\]|([^[\]:@,\s]+))(?::\d{1,5})?$/i;

/**
 * Protects the answers to unsigned requests against DNS rebinding. In this attack, a foreign page makes its own host
 * name resolve to this server, and reads the answers. The Host header then has the foreign host name.
 *
 * @param header the Host header; undefined in a request of HTTP/1.0, which no browser sends
 * @param ownNames host names of this service, from the settings
 * @returns whether the host is an IP address, localhost, or one of `ownNames`
 */
export function isAcceptedHost(header: string | undefined, ...ownNames: string[]): boolean {
  if (header === undefined) return true;
  const [, ipv6, name = ''] = HOST.exec(header) ?? [];
  if (ipv6 !== undefined) return isIP(ipv6) === 6;
  const host = plain(name);
  return host !== '' && (isIP(host) === 4 || ['localhost', ...ownNames.map(plain)].includes(host));
}

/** Lower case, without the dot at the end that a host name can have. */
const plain = (name: string) => name.toLowerCase().replace(/\.$/, '');
