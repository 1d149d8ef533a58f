/** Finds a username as a word in the texts of pushes. */

export interface Mentions {
  /** Whether `body` contains the username, in plain form or with JSON escapes. */
  isIn(body: string): boolean;
  /** Replaces the username in plain form, but not with JSON escapes. */
  replaceIn(text: string, replacement: string): string;
}

/** A letter, mark or digit. Chinese characters are excluded, because Chinese texts have no blanks between words. */
const WORD = '(?!\\p{Script=Han})[\\p{L}\\p{M}\\p{N}]';
/**
 * One of these signs between two letters or digits continues a word: the text `li.lei@example.com` does not contain
 * the name `li.lei`.
 */
const JOINT = '[._@-]?';
/** Maximum levels of nested JSON escapes that `isIn` decodes. */
const MAX_LEVELS = 5;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/gs;
/** Escapes with these letters become a blank, for example `\n`. */
const BLANKS = new Set(['b', 'f', 'n', 'r', 't']);

export function createMentions(username: string): Mentions {
  // A Chinese character at the start or end of the name needs no boundary.
  const before = /^\p{Script=Han}/u.test(username) ? '' : `(?<!${WORD}${JOINT})`;
  const after = /\p{Script=Han}$/u.test(username) ? '' : `(?!${JOINT}${WORD})`;
  const word = new RegExp(`${before}${literalPattern(username)}${after}`, 'gu');
  // `includes` is much faster than the regular expression.
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

/** Does not use a JSON parser, because the text can be NDJSON or broken JSON. */
function decodeEscapes(text: string): string {
  return text.replace(ESCAPE, (_, unit?: string, letter = '') => {
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
    return BLANKS.has(letter) ? ' ' : letter;
  });
}
