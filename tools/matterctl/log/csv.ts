/** CSV as RFC 4180 has it, for people who open it in a spreadsheet. */

const QUOTED = /[",\r\n]|^\s|\s$/;
/** What spreadsheets take for the beginning of a formula, the full-width forms too. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;

/** One record without its end. */
export const csvRecord = (cells: readonly string[]) => cells.map(csvCell).join(',');

/** A text of somebody else's must not become a formula: it is shown as a text, after a quote. */
export function csvCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
