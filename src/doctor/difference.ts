/** Where what was signed parts from what was sent. */
import type { Difference } from '../contract/diagnosis';

/** Bytes that are shown before and after. */
const AROUND = 16;

export function differenceOf(sent: Uint8Array, signed: Uint8Array): Difference {
  const end = Math.min(sent.length, signed.length);
  let offset = 0;
  while (offset < end && sent[offset] === signed[offset]) offset += 1;
  return { offset, sent: around(sent, offset), signed: around(signed, offset) };
}

/** @returns text, escaped; a character that is cut in two is shown whole */
function around(bytes: Uint8Array, offset: number): string {
  const isInner = (at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80;
  let from = Math.max(0, offset - AROUND);
  while (from > 0 && isInner(from)) from -= 1;
  let to = Math.min(bytes.length, offset + AROUND);
  while (to < bytes.length && isInner(to)) to += 1;
  return JSON.stringify(Buffer.from(bytes.subarray(from, to)).toString('utf8')).slice(1, -1);
}
