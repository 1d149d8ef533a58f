/** Converts a stored body to text. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @returns null without a body; the text of a UTF-8 body; otherwise, `base64:` and the encoded bytes */
export function bodyText(body: Uint8Array | undefined): string | null {
  if (!body) return null;
  try {
    return utf8.decode(body);
  } catch {
    return `base64:${Buffer.from(body).toString('base64')}`;
  }
}
