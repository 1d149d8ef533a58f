/** Where what was signed parts from what was sent. */
import type { Difference } from '../protocol/diagnosis';

/** Bytes that are shown before and after. */
const AROUND = 16;

export function differenceOf(sent: Uint8Array, signed: Uint8Array): Difference {
  const end = Math.min(sent.length, signed.length);
  let offset = 0;
  while (offset < end && sent[offset] === signed[offset]) offset += 1;
  return { offset, sent: around(sent, offset), signed: around(signed, offset) };
}

/** What nobody sees in a text: a byte order mark, marks of direction and width, unusual blanks. */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\u00a0\u2000-\u200a\u202f\u205f\u3000]/gu;

/** @returns text, escaped, so that everything in it is seen; a character that is cut in two is shown whole */
function around(bytes: Uint8Array, offset: number): string {
  const isInner = (at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80;
  let from = Math.max(0, offset - AROUND);
  while (from > 0 && isInner(from)) from -= 1;
  let to = Math.min(bytes.length, offset + AROUND);
  while (to < bytes.length && isInner(to)) to += 1;
  const text = Buffer.from(bytes.subarray(from, to)).toString('utf8');
  return JSON.stringify(text).slice(1, -1).replace(INVISIBLE, escaped);
}

/** As JSON writes it: `\ufeff`, and two of them beyond the first 65,536. */
function escaped(invisible: string): string {
  const units = Array.from({ length: invisible.length }, (_, at) => invisible.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
