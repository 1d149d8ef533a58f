/** What is no part of a line of a push file: the same as in a batch, so that a file may be sent as one. */

/** Others, such as an ideographic space, are in the way in JSON too. */
const BLANKS = ' \t\r';
const BYTE_ORDER_MARK = '\ufeff';

/** @returns the text without blanks at its ends */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && BLANKS.includes(text.charAt(start))) start += 1;
  while (end > start && BLANKS.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** A mark stands at the start of the file alone. @param line its number, from 1 */
export const withoutMark = (text: string, line: number) =>
  line === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
