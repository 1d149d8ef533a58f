/** Text files of spreadsheets: UTF-8 where it is that, else what a Chinese Excel writes. */

export type Encoding = 'UTF-8' | 'GB18030';

/**
 * UTF-8 is tried first because GBK text is practically never valid UTF-8, while the opposite
 * happens. A BOM is dropped.
 *
 * @returns undefined where the bytes are neither
 */
export function decodeText(bytes: Uint8Array): { text: string; encoding: Encoding } | undefined {
  const encodings: readonly Encoding[] = ['UTF-8', 'GB18030'];
  for (const encoding of encodings) {
    try {
      return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), encoding };
    } catch {
      // Not this one: a fatal decoder has no other way to say so.
    }
  }
  return undefined;
}
