/** Reads the HMAC headers (specification 5) from the raw header list, where doubles still show. */
import { PushError } from '../protocol/errors';

export interface AuthHeaders {
  readonly clientId: string;
  /** The string as sent; it is part of what was signed. */
  readonly timestamp: string;
  readonly signature: string;
}

/** @throws PushError HMAC_HEADERS_MISSING where one of the three is missing, empty or sent twice */
export function readAuthHeaders(rawHeaders: readonly string[]): AuthHeaders {
  const clientId = onlyValue(rawHeaders, 'x-client-id');
  const timestamp = onlyValue(rawHeaders, 'x-timestamp');
  const signature = onlyValue(rawHeaders, 'x-signature');
  if (!clientId || !timestamp || !signature) throw new PushError('HMAC_HEADERS_MISSING');
  return { clientId, timestamp, signature };
}

function onlyValue(rawHeaders: readonly string[], name: string): string | undefined {
  const values = headerValues(rawHeaders, name);
  return values.length === 1 ? values[0] : undefined;
}

/**
 * All values of a header, in order. The raw list is safe where Node's objects are not: a header
 * named `__proto__` breaks `headersDistinct`, and `headers` joins doubles with a comma.
 *
 * @param rawHeaders name, value, name, value, …
 * @param name lower case
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 1; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at - 1] ?? '';
    // Most headers of a request are others, and of another length.
    if (given.length !== name.length || given.toLowerCase() !== name) continue;
    values.push(rawHeaders[at] ?? '');
  }
  return values;
}
