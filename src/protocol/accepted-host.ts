/**
 * Which Host header a port accepts that answers without a signature. A page of another site may let its own name
 * point to this port's address (DNS rebinding): then the browser allows it to read the answers, and the Host header
 * is that name.
 */
import { isIP } from 'node:net';

/** A host, an IPv6 address in brackets, and a port. */
const HOST = /^(?:\[([\da-f:.]+)\]|([^[\]:@,\s]+))(?::\d{1,5})?$/i;

/**
 * @param header undefined in a request of HTTP/1.0, which no browser sends
 * @param ownNames names of this service that an operator has set
 * @returns whether it is an IP address, localhost, or one of these names
 */
export function isAcceptedHost(header: string | undefined, ...ownNames: string[]): boolean {
  if (header === undefined) return true;
  const [, ipv6, name = ''] = HOST.exec(header) ?? [];
  if (ipv6 !== undefined) return isIP(ipv6) === 6;
  const host = plain(name);
  return host !== '' && (isIP(host) === 4 || ['localhost', ...ownNames.map(plain)].includes(host));
}

/** A name may be written with a dot at its end. */
const plain = (name: string) => name.toLowerCase().replace(/\.$/, '');
