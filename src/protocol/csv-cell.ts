/**
 * Cells of CSV files that spreadsheets open: nothing in a cell becomes a formula. One rule for matterctl and for the
 * console, which runs this module too.
 */

/** What spreadsheets take for the beginning of a formula: the full-width forms too, and what they skip before it. */
const FORMULA = /^(?:\s*[;=+\-@＝＋－＠]|[\t\r])/;
/**
 * The same within a cell, where another cell or row may begin: a spreadsheet whose separator is the semicolon or the
 * tab does not know the quotes of a cell that stands behind a comma.
 */
const INNER = /[;\t\r\n][\s"]*(?=[=+\-@＝＋－＠])/g;
/** What is quoted in a cell, by RFC 4180; blanks at its ends, which readers trim; and the other separators. */
const QUOTED = /[",;\t\r\n]|^\s|\s$/;

/** A text as one cell, whatever stands in it. In front of a formula it gets a quote, which shows it as a text. */
export function csvCell(text: string): string {
  const harmless = text.replace(INNER, "$&'");
  const safe = FORMULA.test(text) ? `'${harmless}` : harmless;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One record without its end. */
export const csvRecord = (cells: readonly string[]): string => cells.map(csvCell).join(',');
