/** Writes tables as CSV files in which no cell is a formula. All functions except `download` are pure. */
import { csvRecord } from '../../../src/files/csv';

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
  // The browser reads the address after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
