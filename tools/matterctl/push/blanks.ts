/** Removes characters that are not part of a line of a push file. A batch of a caller has the same rules. */

/** Blanks that are removed. Others, such as an ideographic space, are not allowed in JSON either. */
const BLANKS = ' \t\r';
const BYTE_ORDER_MARK = '\ufeff';

/** @returns the text without blanks at its ends */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && BLANKS.includes(text.charAt(start))) start += 1;
  while (end > start && BLANKS.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Removes the byte order mark, which only the first line can have. @param line number of the line, from 1 */
export const withoutMark = (text: string, line: number) =>
  line === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
