/** A comparison as a CSV file, for a spreadsheet: nothing in it is a formula. Pure. */

/** @typedef {import('./reconcile-compare.js').Difference} Difference */

/** What a spreadsheet takes for a formula, or skips to find one. */
const FORMULA = /^(?:\s*[=+\-@]|[\t\r])/;

/** @param {string} text */
export function csvCell(text) {
  const defused = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n;\t]/.test(defused) ? `"${defused.replaceAll('"', '""')}"` : defused;
}

/** @param {readonly string[]} cells */
export const csvLine = (cells) => `${cells.map(csvCell).join(',')}\r\n`;

/** @param {readonly (readonly string[])[]} rows with a mark at the start, by which Excel knows UTF-8 */
export const csvText = (rows) => `\ufeff${rows.map(csvLine).join('')}`;

/** A value of one side, in words of nobody: as JSON has it. @param {unknown} value */
export const valueText = (value) => {
  if (value === null || value === undefined) return '–';
  return Array.isArray(value) ? value.join(' ') : String(value);
};

/** @param {import('./reconcile-compare.js').Side} side */
export const sideText = (side) =>
  Object.entries(side ?? {})
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join('; ');
