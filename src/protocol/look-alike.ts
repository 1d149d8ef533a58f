/**
 * Ids that look alike and are different ones (decisions, "Look-alike ids"): ids are compared byte by byte, and a
 * blank at an end or a character without width is easily overlooked. Pure; served to the console too.
 */

/** Characters without width: zero-width ones, all direction marks, the soft hyphen, the byte order mark. */
const ZERO_WIDTH = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/** @returns the id without what is easily overlooked in it: of two that look alike, the same text */
export const lookAlike = (id: string): string => id.replace(ZERO_WIDTH, '').trim();

/** A character of an id that is easily overlooked. */
export interface Overlooked {
  /** From 1, in characters. */
  readonly position: number;
  /** For example `U+3000`. */
  readonly codePoint: string;
}

/** @returns the first such character; undefined: there is none */
export function overlookedIn(id: string): Overlooked | undefined {
  if (lookAlike(id) === id) return undefined;
  const characters = [...id];
  const isPlain = (character: string) => lookAlike(character) !== '';
  const [first, last] = [characters.findIndex(isPlain), characters.findLastIndex(isPlain)];
  const at = characters.findIndex(
    (character, place) => place < first || place > last || isZeroWidth(character),
  );
  const code = characters[at]?.codePointAt(0);
  if (code === undefined) return undefined;
  return { position: at + 1, codePoint: `U+${code.toString(16).toUpperCase().padStart(4, '0')}` };
}

const isZeroWidth = (character: string) => character.replace(ZERO_WIDTH, '') === '';
