/**
 * CSV as spreadsheets write it, piece by piece: any of three separators, a `sep=` line, quotes, CRLF, cells of any
 * length. It reads a stream of any size in a browser too, which has no streams of Node. Pure; served to the console.
 */

const [QUOTE, LF, CR] = [34, 10, 13];
/** Characters and cells of one record: one that never ends must not gather the rest of the file. */
const MAX_RECORD = 4 * 1024 * 1024;
/** Characters in which the first record is looked for: its cells may have line breaks. */
const HEAD = 65_536;
const SEPARATORS = [',', ';', '\t'];
const SEP_LINE = /^sep=(.)\r?(?:\n|$)/i;

const PROBLEMS = {
  quote: 'a quote is not closed',
  record: 'the record is longer than 4 million characters: is it a CSV file with line breaks?',
};

export class CsvError extends Error {
  override readonly name = 'CsvError';

  /**
   * @param line where the record begins
   * @param why `quote`: it has one that is not closed; `record`: it is too long
   */
  constructor(
    readonly line: number,
    readonly why: 'quote' | 'record',
  ) {
    super(PROBLEMS[why]);
  }
}

export interface CsvRecord {
  /** Without blanks around cells that have no quotes. */
  readonly cells: readonly string[];
  /** By column: cells without quotes that have blanks around them, with those blanks. */
  readonly padded?: ReadonlyMap<number, string>;
  /** Where it begins, from 1. */
  readonly line: number;
}

/** Reads records as they come; records without any text are left out. A quote inside a cell without quotes is a character. */
export class CsvReader {
  #head: string | undefined = '';
  #delimiter = 0;
  #cells: string[] = [];
  #padded: Map<number, string> | undefined;
  #cell = '';
  /** Characters of `#cells`, and one for each of them. */
  #size = 0;
  /** Between two quotes. */
  #isOpen = false;
  /** Characters that stood in quotes; undefined: there were none. */
  #quoted: number | undefined;
  #line = 1;
  #firstLine = 1;
  #afterCr = false;
  readonly #onRecord: (record: CsvRecord) => void;

  constructor(onRecord: (record: CsvRecord) => void) {
    this.#onRecord = onRecord;
  }

  /** @throws CsvError */
  take(text: string): void {
    if (this.#head === undefined) this.#read(text);
    else {
      this.#head += text;
      if (this.#head.length >= HEAD) this.#begin();
    }
  }

  /** The last record may lack its line break. @throws CsvError */
  end(): void {
    this.#begin();
    if (this.#isOpen) throw new CsvError(this.#firstLine, 'quote');
    if (this.#cells.length > 0 || this.#cell !== '') this.#endRecord();
  }

  #begin(): void {
    const head = this.#head;
    if (head === undefined) return;
    this.#head = undefined;
    const [line, separator] = SEP_LINE.exec(head) ?? [];
    this.#delimiter = (separator ?? separatorOf(head)).charCodeAt(0);
    if (line !== undefined) this.#line = this.#firstLine = 2;
    this.#read(head.slice(line?.length ?? 0));
  }

  #read(text: string): void {
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
    this.#checkSize();
  }

  /** @throws CsvError */
  #checkSize(): void {
    if (this.#size + this.#cell.length <= MAX_RECORD) return;
    throw new CsvError(this.#firstLine, this.#isOpen ? 'quote' : 'record');
  }

  /** Outside of quotes: is it only a character of the cell? */
  #isOfCell(code: number): boolean {
    return code !== this.#delimiter && code !== LF && code !== CR && code !== QUOTE;
  }

  /** @param code a quote, or what ends a cell */
  #meet(code: number): void {
    if (code === QUOTE) this.#meetQuote();
    else if (code === this.#delimiter) this.#endCell();
    else {
      this.#endRecord();
      this.#line += 1;
      this.#firstLine = this.#line;
      this.#afterCr = code === CR;
    }
  }

  #meetQuote(): void {
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

  #endCell(): void {
    this.#size += this.#cell.length + 1;
    const whole = this.#cell;
    const inQuotes = whole.slice(0, this.#quoted ?? 0);
    const outside = whole.slice(inQuotes.length);
    if (this.#quoted !== undefined) this.#cells.push(inQuotes + outside.trimEnd());
    else {
      const trimmed = whole.trim();
      if (trimmed !== '' && trimmed.length < whole.length) {
        this.#padded ??= new Map();
        this.#padded.set(this.#cells.length, whole);
      }
      this.#cells.push(trimmed);
    }
    this.#cell = '';
    this.#quoted = undefined;
    this.#checkSize();
  }

  #endRecord(): void {
    this.#endCell();
    const cells = this.#cells;
    const padded = this.#padded;
    this.#cells = [];
    this.#size = 0;
    this.#padded = undefined;
    if (cells.every((cell) => cell === '')) return;
    this.#onRecord({ cells, line: this.#firstLine, ...(padded && { padded }) });
  }
}

/** What stands between the cells of the first record most often; a comma where nothing does. */
function separatorOf(text: string): string {
  const [line = ''] = text
    .replace(/"[^"]*"/g, '')
    .replace(/^\s*[\r\n]/, '')
    .split(/[\r\n]/, 1);
  const counts = SEPARATORS.map((it) => ({ it, count: line.split(it).length }));
  return counts.reduce((most, other) => (other.count > most.count ? other : most)).it;
}
