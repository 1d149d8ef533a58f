/** Pushes as the lines of batches. Pure. */
import { sha256 } from './lib/sha2.js';
import { bytesToHex, utf8ToBytes } from './lib/utils.js';

/** @typedef {{ readonly operation: string, readonly body: string, readonly key: string }} Push */
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

/**
 * How many pushes of which matters one batch takes. A matter is cut only where it has too many for any batch, and no
 * operation has the same key twice.
 *
 * @template {{ readonly pushes: readonly Push[] }} T
 * @param {readonly T[]} matters
 * @param {Limits} limits
 * @returns {{ matter: T, count: number }[]} of the first ones
 */
export function firstBatch(matters, { batchLines, batchBytes }) {
  const parts = [];
  const names = new Set();
  let bytes = 0;
  for (const matter of matters) {
    let count = 0;
    for (const push of matter.pushes) {
      // No character of a body takes more than three bytes for a unit.
      bytes += lineOf(push).length * 3 + 1;
      const isFull = names.size >= Math.min(LINES, batchLines) || bytes > batchBytes;
      if (names.size > 0 && (isFull || names.has(nameOf(push)))) break;
      names.add(nameOf(push));
      count += 1;
    }
    const isWhole = count === matter.pushes.length;
    if (isWhole || parts.length === 0) parts.push({ matter, count });
    if (!isWhole) break;
  }
  return parts;
}

/**
 * @template {{ readonly pushes: readonly Push[] }} T
 * @param {readonly T[]} matters @param {Limits} limits
 * @returns {T[][]} what goes into each batch; of a matter that is cut, its parts
 */
export function chunksOf(matters, limits) {
  const chunks = [];
  let left = matters;
  while (left.length > 0) {
    const parts = firstBatch(left, limits);
    chunks.push(parts.map(({ matter, count }) => firstOf(matter, count)));
    const cut = parts.flatMap(({ matter, count }) => behind(matter, count) ?? []);
    left = [...cut, ...left.slice(parts.length)];
  }
  return chunks;
}

/** @template {{ readonly pushes: readonly Push[] }} T @param {T} matter @param {number} count @returns {T} */
const firstOf = (matter, count) => ({ ...matter, pushes: matter.pushes.slice(0, count) });

/**
 * @template {{ readonly pushes: readonly Push[] }} T
 * @param {T} matter @param {number} count
 * @returns {T | undefined} undefined: nothing of it is left
 */
export const behind = (matter, count) =>
  count < matter.pushes.length ? { ...matter, pushes: matter.pushes.slice(count) } : undefined;
