/** Finds a username as a word in the texts of pushes. In a doubtful case, the username counts as found. */

export interface Mentions {
  /** Whether a body contains the username, plain or with JSON escapes. JSON inside JSON strings is searched too. */
  isIn(body: string): boolean;
  /** Replaces the username everywhere in a text. JSON escapes in the text are not decoded. */
  replaceIn(text: string, replacement: string): string;
}

/**
 * A letter or digit. If a letter or digit is directly beside a name, the name is only a part of a longer word. Chinese
 * characters are excluded, because Chinese texts have no blanks between words.
 */
const WORD = '(?!\\p{Script=Han})[\\p{L}\\p{M}\\p{N}]';
/**
 * An optional sign that joins the name to a letter or digit, so that the name is only a part of a longer word. For
 * example, `li.lei@example.com`, `x-li.lei` and `li.lei_2` do not contain the word `li.lei`.
 */
const JOINT = '[._@-]?';
/** Maximum levels of escapes. Level 1: escapes of the body. Level 2: escapes of a JSON text in `payloadJson`. */
const MAX_LEVELS = 5;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/gs;
/** The letters of the escapes that are decoded to a blank, such as the n of `\n`. */
const BLANKS = new Set(['b', 'f', 'n', 'r', 't']);

export function createMentions(username: string): Mentions {
  // If the name begins or ends with a Chinese character, no boundary is needed there: Chinese texts have no blanks.
  const before = /^\p{Script=Han}/u.test(username) ? '' : `(?<!${WORD}${JOINT})`;
  const after = /\p{Script=Han}$/u.test(username) ? '' : `(?!${JOINT}${WORD})`;
  const word = new RegExp(`${before}${literalPattern(username)}${after}`, 'gu');
  // `includes` is much faster than the regular expression, and is enough for most texts: few contain the name.
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
 * Decodes one level of escapes. The function does not parse JSON, so that batches, broken JSON, names of fields and
 * duplicate fields are searched too.
 */
function decodeEscapes(text: string): string {
  return text.replace(ESCAPE, (_, unit?: string, letter = '') => {
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
    return BLANKS.has(letter) ? ' ' : letter;
  });
}
