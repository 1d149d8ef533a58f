/** What tells a cache whether it has the bytes that are served. */
import { createHash } from 'node:crypto';

/** @returns a strong ETag: another one where the bytes are others */
export function etagOf(bytes: Buffer): string {
  const digest = createHash('sha256').update(bytes).digest('base64url');
  return `"${digest.slice(0, 27)}"`;
}
