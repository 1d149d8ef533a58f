/** The text of a file that somebody chose, which stays in the browser. */
import { detectEncoding } from '../../../../src/files/encodings';

/** Bytes that are decoded at a time. */
const STEP = 1024 * 1024;

/** @param {Blob} file */
async function* bytesOf(file) {
  for (let at = 0; at < file.size; at += STEP) {
    yield new Uint8Array(await file.slice(at, at + STEP).arrayBuffer());
  }
}

/** By the rules of matterctl. @param {Blob} file */
export const encodingOf = (file) => detectEncoding(() => bytesOf(file));

/**
 * Piece by piece, without a byte order mark.
 *
 * @param {Blob} file
 * @param {string} encoding
 * @returns {AsyncGenerator<string>}
 * @throws {TypeError} where its bytes are none of this encoding
 */
export async function* piecesOf(file, encoding) {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const bytes of bytesOf(file)) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

/** The lines of a text that comes in pieces; the last one may lack its end. @param {AsyncIterable<string>} pieces */
export async function* linesOf(pieces) {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
