/** Cells of CSV files: read back as they were, and never a formula, wherever the file is opened. */
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvLine } from '../../../public/console/save-csv';
import { csvCell, csvRecord } from '../../../src/protocol/csv-cell';

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
  ['', ' ', '\t', '\r', '\r\n', '\u00a0', '\u3000', '\ufeff', ' \t '].map(
    (blanks) => blanks + sign,
  ),
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

test('a formula that has to be quoted is guarded within its quotes', () => {
  expect(csvCell('=HYPERLINK("x","y")')).toBe(`"'=HYPERLINK(""x"",""y"")"`);
});

test('any other record is read back as it was', () => {
  const cell = fc
    .string({ unit: 'binary' })
    .filter((text) => !/^\s*[;=+\-@＝＋－＠]|^[\t\r\ufeff]|[;\r\n]\s*[=+\-@＝＋－＠]/.test(text));
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 5 }), (cells) => {
      expect(parse(csvRecord(cells), { record_delimiter: '\r\n' })).toEqual([cells]);
    }),
  );
});

test('the console writes the same cells as matterctl', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (cells) => {
      expect(csvLine(cells)).toBe(`${csvRecord(cells)}\r\n`);
    }),
  );
});
