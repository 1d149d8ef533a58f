/** Pushes as the lines of batches. Pure. */
import { sha256 } from './lib/sha2.js';
import { bytesToHex, utf8ToBytes } from './lib/utils.js';

/** @typedef {{ readonly operation: string, readonly body: string, readonly key: string, readonly cameAs?: string }} Push `cameAs`: hash of its body before it was mended */
/** @typedef {{ readonly batchLines: number, readonly batchBytes: number }} Limits of a batch, as the service tells them */

/** Lines of a batch: as many as a query key may send at once, where nobody set another rate. */
const LINES = 100;

/** A line feed in valid JSON stands between its words, and may be a blank. @param {string} body */
const inOneLine = (body) => body.replace(/[\r\n]/g, ' ').trim();

/** @param {Push} push */
export const lineOf = ({ operation, body, key }) =>
  `{"op":${JSON.stringify(operation)},"key":${JSON.stringify(key)},"body":${inOneLine(body)}}`;

/** As the log has it of that line. @param {Push} push */
export const bodyHashOf = ({ body }) => bytesToHex(sha256(utf8ToBytes(inOneLine(body))));

/** @param {Pick<Push, 'operation' | 'key'>} push */
export const nameOf = ({ operation, key }) => `${operation} ${key}`;

/** Whether a batch was refused whole for what stands in it: others may go through. @param {{ readonly code: number }} envelope */
export const isAboutLines = ({ code }) => code === 400 || code === 413;

/** @typedef {{ readonly pushes: readonly Push[], readonly next?: number }} Row `next`: place of the first push that is still to be sent */
/**
 * @template {Row} T
 * @typedef {{ readonly matter: T, readonly pushes: readonly Push[] }} Part
 */

/** @param {Row} matter */
export const leftOf = ({ pushes, next = 0 }) => pushes.slice(next);

/** @template {Row} T @param {T} matter @param {number} count of its next pushes @returns {T} */
export const behind = (matter, count) => ({ ...matter, next: (matter.next ?? 0) + count });

/** @param {Row} matter */
export const isThrough = ({ pushes, next = 0 }) => next >= pushes.length;

/**
 * What one batch takes of which matter. A matter is cut only where it has too many pushes for any batch, and no
 * operation has the same key twice.
 *
 * @template {Row} T
 * @param {readonly T[]} matters
 * @param {Limits} limits
 * @returns {Part<T>[]} of the first ones
 */
export function firstBatch(matters, { batchLines, batchBytes }) {
  const parts = [];
  const names = new Set();
  let bytes = 0;
  for (const matter of matters) {
    const left = leftOf(matter);
    let count = 0;
    for (const push of left) {
      // No character of a body takes more than three bytes for a unit.
      bytes += lineOf(push).length * 3 + 1;
      const isFull = names.size >= Math.min(LINES, batchLines) || bytes > batchBytes;
      if (names.size > 0 && (isFull || names.has(nameOf(push)))) break;
      names.add(nameOf(push));
      count += 1;
    }
    const isWhole = count === left.length;
    if (isWhole || parts.length === 0) parts.push({ matter, pushes: left.slice(0, count) });
    if (!isWhole) break;
  }
  return parts;
}

/**
 * @template {Row} T
 * @param {readonly T[]} matters @param {Limits} limits
 * @returns {Part<T>[][]} what goes into each batch
 */
export function chunksOf(matters, limits) {
  const chunks = [];
  let left = matters;
  while (left.length > 0) {
    const parts = firstBatch(left, limits);
    chunks.push(parts);
    const cut = parts.map(({ matter, pushes }) => behind(matter, pushes.length));
    left = [...cut.filter((it) => !isThrough(it)), ...left.slice(parts.length)];
  }
  return chunks;
}
