/** CSV, piece by piece: quotes, CRLF, cells of any length. What it cannot be is told with its line. Pure. */

const [QUOTE, LF, CR] = [34, 10, 13];
/** Characters of one record: a quote that is never closed must not gather the rest of the file. */
const MAX_RECORD = 4 * 1024 * 1024;

export class CsvError extends Error {
  /** @param {number} line where the quote was opened */
  constructor(line) {
    super(`line ${line}: a quote is not closed`);
    this.name = 'CsvError';
    this.line = line;
  }
}

/** Reads records as they come. Cells without quotes are trimmed; a quote inside of one is a character. */
export class CsvReader {
  /** @type {string[]} */
  #cells = [];
  #cell = '';
  /** Between two quotes. */
  #isOpen = false;
  /** Characters that stood in quotes; undefined: there were none. @type {number | undefined} */
  #quoted;
  #line = 1;
  #firstLine = 1;
  #afterCr = false;
  #delimiter;
  #onRecord;

  /**
   * @param {string} delimiter one character
   * @param {(cells: string[], line: number) => void} onRecord with the line where it begins, from 1
   */
  constructor(delimiter, onRecord) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#onRecord = onRecord;
  }

  /** @param {string} text @throws {CsvError} */
  take(text) {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === LF && this.#afterCr) {
        from = at + 1;
        this.#afterCr = false;
        continue;
      }
      this.#afterCr = false;
      if (this.#isOpen ? code !== QUOTE : this.#isOfCell(code)) {
        if (code === LF) this.#line += 1;
        continue;
      }
      this.#cell += text.slice(from, at);
      from = at + 1;
      this.#meet(code);
    }
    this.#cell += text.slice(from);
    if (this.#cell.length > MAX_RECORD) throw new CsvError(this.#firstLine);
  }

  /** The last record may lack its line break. @throws {CsvError} */
  end() {
    if (this.#isOpen) throw new CsvError(this.#firstLine);
    if (this.#cells.length > 0 || this.#cell !== '') this.#endRecord();
  }

  /** Outside of quotes: is it but a character of the cell? @param {number} code */
  #isOfCell(code) {
    return code !== this.#delimiter && code !== LF && code !== CR && code !== QUOTE;
  }

  /** @param {number} code a quote, or what ends a cell */
  #meet(code) {
    if (code === QUOTE) this.#meetQuote();
    else if (code === this.#delimiter) this.#endCell();
    else {
      this.#endRecord();
      this.#line += 1;
      this.#firstLine = this.#line;
      this.#afterCr = code === CR;
    }
  }

  #meetQuote() {
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#quoted = this.#cell.length;
    } else if (this.#quoted === this.#cell.length) {
      // Two of them are one.
      this.#cell += '"';
      this.#isOpen = true;
    } else if (this.#cell.trim() === '' && this.#quoted === undefined) {
      this.#cell = '';
      this.#isOpen = true;
    } else this.#cell += '"';
  }

  #endCell() {
    const inQuotes = this.#cell.slice(0, this.#quoted ?? 0);
    const outside = this.#cell.slice(inQuotes.length);
    this.#cells.push(inQuotes + (this.#quoted === undefined ? outside.trim() : outside.trimEnd()));
    this.#cell = '';
    this.#quoted = undefined;
  }

  #endRecord() {
    this.#endCell();
    const cells = this.#cells;
    this.#cells = [];
    if (cells.some((cell) => cell !== '')) this.#onRecord(cells, this.#firstLine);
  }
}

/** What stands between the cells of the first record: a comma, or what other programs write. @param {string} text */
export function delimiterOf(text) {
  const [line = ''] = text
    .replace(/"[^"]*"/g, '')
    .replace(/^\s*[\r\n]/, '')
    .split(/[\r\n]/, 1);
  const counts = [',', ';', '\t'].map((it) => ({ it, count: line.split(it).length }));
  return counts.reduce((most, other) => (other.count > most.count ? other : most)).it;
}
