/**
 * Which Host header the internal port accepts. A page of another site may let its own name point to this port's
 * address (DNS rebinding): then the browser allows it to read the answers, and the Host header is that name.
 */
import { isIP } from 'node:net';

/** A host, an IPv6 address in brackets, and a port. */
const HOST = /^(?:\[([\da-f:.]+)\]|([^[\]:@,\s]+))(?::\d{1,5})?$/i;

/**
 * @param header undefined in a request of HTTP/1.0, which no browser sends
 * @param ownName METRICS_HOST
 * @returns whether it is an IP address, localhost, or the host of METRICS_HOST
 */
export function isAcceptedHost(header: string | undefined, ownName: string): boolean {
  if (header === undefined) return true;
  const [, ipv6, name = ''] = HOST.exec(header) ?? [];
  if (ipv6 !== undefined) return isIP(ipv6) === 6;
  const host = plain(name);
  return isIP(host) === 4 || host === 'localhost' || (host !== '' && host === plain(ownName));
}

/** A name may be written with a dot at its end. */
const plain = (name: string) => name.toLowerCase().replace(/\.$/, '');
