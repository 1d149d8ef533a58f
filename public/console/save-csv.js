/** Tables as files for a spreadsheet: nothing in them is a formula. Pure, but for `download`. */

/** What a spreadsheet takes for a formula, or skips to find one. */
const FORMULA = /^(?:\s*[=+\-@]|[\t\r])/;

/** @param {string} text as one cell that is a text whatever stands in it */
export function csvCell(text) {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** @param {readonly string[]} cells */
export const csvLine = (cells) => `${cells.map(csvCell).join(',')}\r\n`;

/**
 * @param {readonly (readonly string[])[]} rows the head first
 * @returns {string} with a byte order mark, by which spreadsheets know that it is UTF-8
 */
export const csvOf = (rows) => `\ufeff${rows.map(csvLine).join('')}`;

/** @param {string} name of the file @param {readonly string[]} parts of its text */
export function download(name, parts) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...parts], { type: 'text/csv;charset=utf-8' }));
  link.download = name;
  link.click();
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
