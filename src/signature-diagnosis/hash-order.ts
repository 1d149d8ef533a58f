/** The order in which a HashMap of Java gives its entries: many a signer makes its body of one. */
import type { Member } from './json-tree';

const SMALLEST = 16;
const LOAD = 0.75;

export function hashOrder(members: readonly Member[]): readonly Member[] {
  let places = SMALLEST;
  while (members.length > places * LOAD) places *= 2;
  const place = ([name]: Member) => (spread(name) & (places - 1)) >>> 0;
  // The sort is stable: what shares a place stays in the order in which it was put there.
  return [...members].sort((a, b) => place(a) - place(b));
}

/** `String.hashCode`, its upper half mixed into the lower one. */
function spread(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) {
    hash = (Math.imul(31, hash) + name.charCodeAt(at)) | 0;
  }
  return hash ^ (hash >>> 16);
}
