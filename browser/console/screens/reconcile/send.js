/** Sends what mends differences, in batches, or tries it; each line has a key, so that a second try is harmless. */
import { bytesToHex } from '@noble/hashes/utils.js';
import { AskError, send } from '../../read/ask.js';
import { patiently, waitAfter } from './patiently.js';

/** @typedef {import('./compare.js').RepushLine} RepushLine */
/** @typedef {import('../../read/shapes').Envelope} Envelope */
/** @typedef {{ readonly externalId: string, readonly text: string }} Line */
/** @typedef {{ readonly code: number, readonly message: string, readonly reason?: string, readonly retryable?: boolean, readonly outcome?: string, readonly errors?: readonly { field: string, message: string }[] }} Told */

/** Lines of a batch: what a batch saves is saved with them, and the bar moves. */
const LINES = 200;
const TRIES = 5;

/** Keys of one comparison: one that is sent after another comparison is another change. */
export const newRun = () =>
  `console-reconcile/${bytesToHex(crypto.getRandomValues(new Uint8Array(8)))}`;

/** @param {readonly RepushLine[]} lines @param {string} run @returns {Line[]} */
export const toLines = (lines, run) =>
  lines.map(({ op, body }, at) => ({
    externalId: String(body.externalId),
    text: JSON.stringify({ op, body, key: `${run}/${at + 1}` }),
  }));

/** In their order. @param {readonly Line[]} lines @param {{ batchLines: number, batchBytes: number }} limits @returns {Line[][]} */
export function inBatches(lines, { batchLines, batchBytes }) {
  /** @type {Line[][]} */
  const batches = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    // No character of a body takes more than three bytes for a unit.
    const size = line.text.length * 3 + 1;
    const last = batches.at(-1);
    if (last && last.length < Math.min(LINES, batchLines) && bytes + size <= batchBytes) {
      last.push(line);
      bytes += size;
    } else {
      batches.push([line]);
      bytes = size;
    }
  }
  return batches;
}

/**
 * One batch after the other. What may succeed later is sent again, with its key.
 *
 * @param {'matters/batch' | 'verify/batch'} name
 * @param {readonly Line[][]} batches
 * @param {{ signal?: AbortSignal, onTold: (told: ReadonlyMap<string, Told>) => void }} how
 * @throws {AskError} where a batch as a whole is refused, or nobody answers
 */
export async function sendBatches(name, batches, { signal, onTold }) {
  for (const batch of batches) {
    let open = batch;
    for (let tries = 1; open.length > 0; tries += 1) {
      const results = await sendOne(name, open, signal);
      const again = open.filter((_, at) => tries < TRIES && results[at]?.retryable === true);
      onTold(new Map(open.map(({ externalId }, at) => [externalId, results[at] ?? LOST])));
      open = again;
      if (open.length > 0) await waitAfter(tries, signal);
    }
  }
}

/** Of a line that an answer does not speak of. @type {Told} */
const LOST = { code: 500, message: '' };

/** @param {string} name @param {readonly Line[]} lines @param {AbortSignal} [signal] @returns {Promise<readonly Told[]>} */
function sendOne(name, lines, signal) {
  const body = lines.map(({ text }) => `${text}\n`).join('');
  return patiently(async () => {
    const envelope = await send(name, { body, signal });
    const data = /** @type {{ results?: readonly Told[] } | null | undefined} */ (envelope.data);
    if (data?.results) return data.results;
    throw new AskError({ message: envelope.message, reason: envelope.reason, envelope });
  }, signal);
}
