/**
 * Finds invisible characters of an id: zero-width characters, and blanks at the ends (contract 1.2). This file must
 * run in a browser, because the console bundles this file.
 */

/** Zero-width characters, direction marks, the soft hyphen and the byte order mark. */
const ZERO_WIDTH = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/** Returns the same text for ids that differ only in invisible characters. */
export const lookAlike = (id: string): string => id.replace(ZERO_WIDTH, '').trim();

export interface InvisibleCharacter {
  /** Position in Unicode characters, from 1. */
  readonly position: number;
  /** For example `U+3000`. */
  readonly codePoint: string;
}

export function findInvisibleCharacter(id: string): InvisibleCharacter | undefined {
  if (lookAlike(id) === id) return undefined;
  const characters = [...id];
  const isPlain = (character: string) => lookAlike(character) !== '';
  const [first, last] = [characters.findIndex(isPlain), characters.findLastIndex(isPlain)];
  const at = characters.findIndex(
    (character, index) => index < first || index > last || isZeroWidth(character),
  );
  const code = characters[at]?.codePointAt(0);
  if (code === undefined) return undefined;
  return { position: at + 1, codePoint: `U+${code.toString(16).toUpperCase().padStart(4, '0')}` };
}

const isZeroWidth = (character: string) => character.replace(ZERO_WIDTH, '') === '';
