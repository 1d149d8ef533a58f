/** A stored body as text. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * @returns the body as it was sent; `base64:` and its bytes where it is not UTF-8; null where it is
 *   not kept (any more)
 */
export function bodyText(body: Uint8Array | undefined): string | null {
  if (!body) return null;
  try {
    return utf8.decode(body);
  } catch {
    // A fatal decoder has no other way to say that it is not UTF-8.
    return `base64:${Buffer.from(body).toString('base64')}`;
  }
}
