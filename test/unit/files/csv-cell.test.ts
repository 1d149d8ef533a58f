/** Cells of CSV files: read back as they were, and never a formula, wherever the file is opened. */
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvCell, csvRecord } from '../../../src/files/csv';

test.each([
  ['plain', 'plain'],
  ['报销单', '报销单'],
  ['', ''],
  ['<b>', '<b>'],
  ['a=1', 'a=1'],
  ['a - b', 'a - b'],
  ['a,b', '"a,b"'],
  ['a;b', '"a;b"'],
  ['a\tb', '"a\tb"'],
  ['say "no"', '"say ""no"""'],
  ['two\nlines', '"two\nlines"'],
  ['two\r\nlines', '"two\r\nlines"'],
  [' padded ', '" padded "'],
])('%j is written as %j', (text, cell) => {
  expect(csvCell(text)).toBe(cell);
});

const SIGNS = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
const formulas = SIGNS.flatMap((sign) =>
  ['', ' ', '\u00a0', '\u3000', '\ufeff', ' \u3000 '].map((blanks) => blanks + sign),
);

test.each([...formulas.map((start) => `${start}1+1`), '\tx', '\rx', ';x', ' ;x'])(
  '%j does not become a formula',
  (text) => {
    const [[cell = ''] = []] = parse(csvCell(text)) as string[][];
    expect(cell).toBe(`'${text}`);
  },
);

test.each(SIGNS.flatMap((sign) => [`a;${sign}1`, `a; ${sign}1`, `a\n${sign}1`, `a\r\n ${sign}1`]))(
  'a formula behind a separator is none: %j',
  (text) => {
    const cell = csvCell(text);
    expect(cell).toMatch(/^"/);
    // As where the separator is the semicolon, and the cell is not the first of its line.
    for (const part of `x,${cell}`.split(/[;\r\n]/)) {
      expect(part).not.toMatch(/^\s*[=+\-@＝＋－＠]/);
    }
  },
);

test.each([
  ['\n=1', "'\n'=1"],
  ['\r\n =1;x', "'\r\n '=1;x"],
  ['\t=1', "'\t'=1"],
  ['a;"=1', `a;"'=1`],
])('a formula behind blanks that split the cell is guarded too: %j', (text, written) => {
  expect(parse(csvCell(text), { record_delimiter: '\u0000' })).toEqual([[written]]);
});

const BLANKS = [' ', '\t', '\n', '\r', '\r\n', '\u00a0', '\u3000', '\ufeff', '\v', '\f'];
const mixed = fc
  .array(fc.constantFrom(...BLANKS, ...SIGNS, ';', ',', '"', 'x', '1'), { maxLength: 12 })
  .map((parts) => parts.join(''));

test('no part of a cell is a formula, wherever a spreadsheet splits it and whatever blanks it skips', () => {
  fc.assert(
    fc.property(mixed, (text) => {
      const [[cell = ''] = []] = parse(csvCell(text), { record_delimiter: '\u0000' }) as string[][];
      expect(cell).not.toMatch(/^\s*[=+\-@＝＋－＠]/);
      // By a spreadsheet with another separator, which splits the cell and does not know its quotes.
      for (const part of `x,${csvCell(text)}`.split(/[;\t\r\n]/)) {
        expect(part).not.toMatch(/^[\s"]*[=+\-@＝＋－＠]/);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a formula that has to be quoted is guarded within its quotes', () => {
  expect(csvCell('=HYPERLINK("x","y")')).toBe(`"'=HYPERLINK(""x"",""y"")"`);
});

test('any other record is read back as it was', () => {
  const cell = fc
    .string({ unit: 'binary' })
    .filter(
      (text) => !/^\s*[;=+\-@＝＋－＠]|^[\t\r\ufeff]|[;\t\r\n][\s"]*[=+\-@＝＋－＠]/.test(text),
    );
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 5 }), (cells) => {
      expect(parse(csvRecord(cells), { record_delimiter: '\r\n' })).toEqual([cells]);
    }),
  );
});
