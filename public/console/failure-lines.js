/** Pushes as the lines of batches. Pure. */

/** @typedef {{ readonly operation: string, readonly body: string, readonly key: string }} Push */

/** Lines of a batch: as many as a query key may send at once. */
const MOST_LINES = 100;
/** Characters of a batch; the service takes 8 MB, and one may take four bytes. */
const MOST_LENGTH = 1_500_000;

/** A line feed in valid JSON stands between its words, and may be a blank. @param {Push} push */
export const lineOf = ({ operation, body, key }) =>
  `{"op":${JSON.stringify(operation)},"key":${JSON.stringify(key)},"body":${body.replace(/[\r\n]/g, ' ')}}`;

/**
 * Matters that fit into one batch each. A matter stays together, and no operation has the same key twice.
 *
 * @template {{ readonly pushes: readonly Push[] }} T
 * @param {readonly T[]} matters
 * @returns {T[][]}
 */
export function chunksOf(matters) {
  const chunks = /** @type {T[][]} */ ([]);
  let chunk = /** @type {T[]} */ ([]);
  let lines = 0;
  let length = 0;
  let keys = new Set();
  for (const matter of matters) {
    const { pushes } = matter;
    const size = pushes.reduce((sum, { body }) => sum + body.length, 0);
    const names = pushes.map(({ operation, key }) => `${operation} ${key}`);
    const isFull = lines + pushes.length > MOST_LINES || length + size > MOST_LENGTH;
    if (chunk.length > 0 && (isFull || names.some((name) => keys.has(name)))) {
      chunks.push(chunk);
      chunk = [];
      lines = 0;
      length = 0;
      keys = new Set();
    }
    chunk.push(matter);
    lines += pushes.length;
    length += size;
    for (const name of names) keys.add(name);
  }
  return chunk.length > 0 ? [...chunks, chunk] : chunks;
}
