/** Removes keys from texts that people and logs will see: the addresses of robots contain their keys. */

const HIDDEN = '…';
/** Characters. A shorter value is no key, and its text may occur anywhere. */
const SHORTEST_VALUE = 4;
const SHORTEST_SEGMENT = 8;

/** Removes passwords, queries and long segments of paths from all HTTP addresses in a text. */
export function maskAddresses(text: string): string {
  return text.replace(/https?:\/\/[^\s'"<>]+/gi, (address) =>
    address
      .replace(/\?.*/s, `?${HIDDEN}`)
      .replace(/\/\/[^/]*@/, `//${HIDDEN}@`)
      .replace(/(?<!\/)\/[^/?]{16,}/g, `/${HIDDEN}`),
  );
}

/**
 * Removes the keys of one address from a text that may repeat it, in whole or in parts.
 *
 * @param address an absolute URL
 */
export function maskKeysOf(address: string, text: string): string {
  const { username, password, pathname, search, hash } = new URL(address);
  const values = search.slice(1).split('&');
  const segments = pathname.split('/').filter(({ length }) => length >= SHORTEST_SEGMENT);
  const keys = [
    ...[username, password, hash.slice(1), ...segments],
    ...values.map((pair) => pair.slice(pair.indexOf('=') + 1)),
  ].filter(({ length }) => length >= SHORTEST_VALUE);
  const forms = keys.flatMap((key) => [key, decoded(key), encodeURIComponent(decoded(key))]);
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length).map(escaped);
  const known =
    longestFirst.length === 0
      ? text
      : text.replace(new RegExp(longestFirst.join('|'), 'gi'), HIDDEN);
  // A part of the address may be cut off, so that its key is not complete.
  return maskAddresses(known).replace(/([?&;][\w.-]+=)[^\s&'"<>]+/g, `$1${HIDDEN}`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The value is not percent-encoded, so it has one form only.
    return text;
  }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
