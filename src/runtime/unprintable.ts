/** Characters that must not reach a terminal, where a log or the output of a command is read. */

/**
 * Control characters, marks that turn the direction of writing or begin a new line, characters that nobody sees, halves
 * of characters. The two joiners belong to words and emoji.
 */
export const UNPRINTABLE = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Writes them as JSON would, such as `\u001b`: within a JSON text it means the same as before. */
export const escapeUnprintable = (text: string): string =>
  text.replace(UNPRINTABLE, (found) => found.split('').map(toEscape).join(''));

const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
