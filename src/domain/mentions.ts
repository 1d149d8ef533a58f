/** Finds a username as a word in the texts of pushes. If a text could mean the user, the username counts as found. */

export interface Mentions {
  /** Whether a body contains the username, also behind the escapes of JSON, and of JSON inside JSON strings. */
  isIn(body: string): boolean;
  /** Replaces each username in a text without escapes. */
  replaceIn(text: string, replacement: string): string;
}

/** A letter or digit that makes another word of the name beside it. Chinese texts have no blanks between words. */
const WORD = '(?!\\p{Script=Han})[\\p{L}\\p{M}\\p{N}]';
/** Connects the name with a `WORD`: `li.lei@example.com`, `x-li.lei` and `li.lei_2` are other words than `li.lei`. */
const JOINT = '[._@-]?';
/** Levels of escapes that are decoded: the body is the first, and the JSON document in `payloadJson` the second. */
const MAX_LEVELS = 5;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/gs;
/** The escapes of white space. */
const BLANKS = new Set(['b', 'f', 'n', 'r', 't']);

export function createMentions(username: string): Mentions {
  // Chinese letters can be beside each other without being one name, so no boundary is required beside them.
  const before = /^\p{Script=Han}/u.test(username) ? '' : `(?<!${WORD}${JOINT})`;
  const after = /\p{Script=Han}$/u.test(username) ? '' : `(?!${JOINT}${WORD})`;
  const word = new RegExp(`${before}${literalPattern(username)}${after}`, 'gu');
  // Few texts contain the letters of the name, and `includes` is much faster than the expression.
  const isWordIn = (text: string) => text.includes(username) && text.search(word) >= 0;
  return {
    isIn: (body) => {
      let text = body;
      for (let level = 0; !isWordIn(text); level += 1) {
        if (level === MAX_LEVELS || !text.includes('\\')) return false;
        text = decodeEscapes(text);
      }
      return true;
    },
    replaceIn: (text, replacement) => text.replace(word, () => replacement),
  };
}

/** The source of a regular expression that matches exactly `text`, in JavaScript and in MongoDB. */
export const literalPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/**
 * Decodes one level of escapes. It works on the text instead of parsing it: thus it also covers batches, broken JSON,
 * names of fields, and fields that occur twice.
 */
function decodeEscapes(text: string): string {
  return text.replace(ESCAPE, (_, unit?: string, letter = '') => {
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
    return BLANKS.has(letter) ? ' ' : letter;
  });
}
