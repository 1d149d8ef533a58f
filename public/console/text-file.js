/** The text of a file that somebody chose, which stays in the browser. */

/** Bytes that are decoded at a time. */
const STEP = 1024 * 1024;

/** GBK text is practically never valid UTF-8, while the opposite happens: so UTF-8 is tried first. */
const ENCODINGS = ['utf-8', 'gb18030'];

/**
 * @param {Blob} file
 * @returns {Promise<string | undefined>} undefined: it is none of those that are known
 */
export async function encodingOf(file) {
  const [first, second, third] = new Uint8Array(await file.slice(0, 3).arrayBuffer());
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  // A mark says which one it is, whatever else its bytes could be.
  const isMarked = first === 0xef && second === 0xbb && third === 0xbf;
  for (const encoding of isMarked ? ENCODINGS.slice(0, 1) : ENCODINGS) {
    try {
      for await (const _ of piecesOf(file, encoding));
      return encoding;
    } catch (error) {
      // A decoder that is told to be exact has no other way to say no.
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return undefined;
}

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
  for (let at = 0; at < file.size; at += STEP) {
    yield decoder.decode(await file.slice(at, at + STEP).arrayBuffer(), { stream: true });
  }
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
