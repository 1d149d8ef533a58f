/** Tables as files for a spreadsheet. Pure, but for `download`. */

/** Read as a formula by spreadsheets. */
const FORMULA = /^[=+\-@\t\r]/;

/** @param {string} text as one cell that is a text whatever stands in it */
function cellOf(text) {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/**
 * @param {readonly (readonly string[])[]} rows the head first
 * @returns {string} with a byte order mark, by which spreadsheets know that it is UTF-8
 */
export const csvOf = (rows) =>
  `\ufeff${rows.map((row) => row.map(cellOf).join(',')).join('\r\n')}\r\n`;

/** @param {string} name of the file @param {string} text */
export function download(name, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  link.download = name;
  link.click();
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
