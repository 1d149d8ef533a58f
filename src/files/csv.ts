/** Reads and writes CSV files of spreadsheets. Uses no Node API, because the console imports this file. */
const [QUOTE, LF, CR] = [34, 10, 13];
/** Maximum characters of a record, including separators. */
const MAX_RECORD = 4 * 1024 * 1024;
/** Number of characters that are enough to detect the separator. */
const HEAD = 65_536;
const SEPARATORS = [',', ';', '\t'];
const SEP_LINE = /^sep=(.)\r?(?:\n|$)/i;

const PROBLEMS = {
  quote: 'a quote is not closed',
  record:
    'the record is longer than 4 million characters: check that the file is a CSV file with line breaks',
};

export class CsvError extends Error {
  override readonly name = 'CsvError';

  constructor(
    readonly line: number,
    readonly why: 'quote' | 'record',
  ) {
    super(PROBLEMS[why]);
  }
}

export interface CsvRecord {
  /** The cells, trimmed. Blanks inside quotes are kept. */
  readonly cells: readonly string[];
  /** Original texts of the unquoted cells that were trimmed, by column (from 0). */
  readonly untrimmed?: ReadonlyMap<number, string>;
  /** First line of the record, from 1. */
  readonly line: number;
}

/** Detects the separator: comma, semicolon or tab. A first line such as `sep=|` overrides the detection. */
export class CsvReader {
  /** The received text; undefined after the separator is known. */
  #head: string | undefined = '';
  #delimiter = 0;
  #cells: string[] = [];
  #untrimmed: Map<number, string> | undefined;
  #cell = '';
  #size = 0;
  /** Whether the next character is inside quotes. */
  #isOpen = false;
  /** Number of quoted characters at the start of the cell; undefined without quotes. */
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

  /** @throws CsvError */
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
      this.#readSpecial(code);
    }
    this.#cell += text.slice(from);
    this.#checkSize();
  }

  #checkSize(): void {
    if (this.#size + this.#cell.length <= MAX_RECORD) return;
    throw new CsvError(this.#firstLine, this.#isOpen ? 'quote' : 'record');
  }

  /** Whether a character outside of quotes is part of the cell. */
  #isOfCell(code: number): boolean {
    return code !== this.#delimiter && code !== LF && code !== CR && code !== QUOTE;
  }

  #readSpecial(code: number): void {
    if (code === QUOTE) this.#readQuote();
    else if (code === this.#delimiter) this.#endCell();
    else {
      this.#endRecord();
      this.#line += 1;
      this.#firstLine = this.#line;
      this.#afterCr = code === CR;
    }
  }

  #readQuote(): void {
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#quoted = this.#cell.length;
    } else if (this.#quoted === this.#cell.length) {
      // Two quotes within quotes stand for one quote.
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
        this.#untrimmed ??= new Map();
        this.#untrimmed.set(this.#cells.length, whole);
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
    const untrimmed = this.#untrimmed;
    this.#cells = [];
    this.#size = 0;
    this.#untrimmed = undefined;
    if (cells.every((cell) => cell === '')) return;
    this.#onRecord({ cells, line: this.#firstLine, ...(untrimmed && { untrimmed }) });
  }
}

/** The most frequent separator in the first record; a comma if the record has no separator. */
function separatorOf(text: string): string {
  const [line = ''] = text
    .replace(/"[^"]*"/g, '')
    .replace(/^\s*[\r\n]/, '')
    .split(/[\r\n]/, 1);
  const counts = SEPARATORS.map((it) => ({ it, count: line.split(it).length }));
  return counts.reduce((best, other) => (other.count > best.count ? other : best)).it;
}

/**
 * Matches a text that a spreadsheet could run as a formula. Spreadsheets ignore blanks before formulas and accept
 * full-width signs.
 */
const FORMULA = /^(?:\s*[;=+\-@＝＋－＠]|[\t\r])/;
/**
 * Matches a semicolon, tab or line break before a formula sign. A spreadsheet that ignores quotes can start a new
 * cell after these characters.
 */
const INNER = /[;\t\r\n][\s"]*(?=[=+\-@＝＋－＠])/g;
const QUOTED = /[",;\t\r\n]|^\s|\s$/;

/** Spreadsheets treat a formula after an apostrophe as text. */
export function csvCell(text: string): string {
  const harmless = text.replace(INNER, "$&'");
  const safe = FORMULA.test(text) ? `'${harmless}` : harmless;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvRecord = (cells: readonly string[]): string => cells.map(csvCell).join(',');
