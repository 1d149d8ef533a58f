/** Text files of spreadsheets: UTF-8 where it is that, else what a Chinese Excel writes. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';

export type Encoding = 'UTF-8' | 'GB18030';

/**
 * UTF-8 is tried first because GBK text is practically never valid UTF-8, while the opposite
 * happens.
 */
const ENCODINGS: readonly Encoding[] = ['UTF-8', 'GB18030'];
const BOM = [0xef, 0xbb, 0xbf];

/** A BOM says which one it is, whatever else the bytes could be. @param start the first bytes of a file */
const possible = (start: Uint8Array) =>
  BOM.every((byte, at) => start[at] === byte) ? ENCODINGS.slice(0, 1) : ENCODINGS;

/**
 * A BOM is dropped.
 *
 * @returns undefined where the bytes are neither
 */
export function decodeText(bytes: Uint8Array): { text: string; encoding: Encoding } | undefined {
  for (const encoding of possible(bytes)) {
    try {
      return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), encoding };
    } catch {
      // Not this one: a fatal decoder has no other way to say so.
    }
  }
  return undefined;
}

/** The same question for a file that may be larger than the memory; reads it up to its end. */
export async function encodingOf(path: string): Promise<Encoding | undefined> {
  for (const encoding of possible(await startOf(path))) {
    if (await isIn(path, encoding)) return encoding;
  }
  return undefined;
}

async function startOf(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(BOM.length), 0, BOM.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The text of a file, piece by piece, without a BOM. @throws TypeError where it is not `encoding` */
export async function* decodeFile(path: string, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const chunk of createReadStream(path)) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

async function isIn(path: string, encoding: Encoding): Promise<boolean> {
  const pieces = decodeFile(path, encoding);
  for (;;) {
    try {
      if ((await pieces.next()).done) return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA')
        throw error;
      return false;
    }
  }
}
