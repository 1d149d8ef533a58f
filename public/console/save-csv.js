/** Tables as files for a spreadsheet: nothing in them is a formula. Pure, but for `download`. */
import { csvRecord } from './lib/csv-cell.js';

/** @param {readonly string[]} cells */
export const csvLine = (cells) => `${csvRecord(cells)}\r\n`;

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
