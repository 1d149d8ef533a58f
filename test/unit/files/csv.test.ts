/** CSV of spreadsheets and databases, in pieces of any length. */
import fc from 'fast-check';
import { CsvError, CsvReader, type CsvRecord } from '../../../src/files/csv';

function read(text: string, piece = text.length || 1): CsvRecord[] {
  const records: CsvRecord[] = [];
  const reader = new CsvReader((record) => records.push(record));
  for (let at = 0; at < text.length; at += piece) reader.take(text.slice(at, at + piece));
  reader.end();
  return records;
}
const cells = (text: string) => read(text).map((record) => record.cells);

test.each<[string, string, string[][]]>([
  [
    'a comma',
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'a semicolon',
    'a;b\n1,5;2\n',
    [
      ['a', 'b'],
      ['1,5', '2'],
    ],
  ],
  [
    'a tab',
    'a\tb\n1,5\t2\n',
    [
      ['a', 'b'],
      ['1,5', '2'],
    ],
  ],
  [
    'as a sep= line says',
    'sep=;\r\na,b;c\r\n1;2\r\n',
    [
      ['a,b', 'c'],
      ['1', '2'],
    ],
  ],
  ['as a sep= line says, whatever it is', 'SEP=|\na|b,c\n', [['a', 'b,c']]],
  ['a semicolon beside a comma in quotes', '"a,b,c";d\n', [['a,b,c', 'd']]],
])('the separator is %s', (_, text, expected) => {
  expect(cells(text)).toEqual(expected);
});

test('records have the line in which they begin', () => {
  const records = read('sep=,\na,b\n\n"1\n1",2\r\n3,4\r5,6');
  expect(records.map(({ line, cells: [first] }) => [line, first])).toEqual([
    [2, 'a'],
    [4, '1\n1'],
    [6, '3'],
    [7, '5'],
  ]);
});

test('blanks around a cell without quotes are kept beside it: an id may have them', () => {
  expect(read('a,b\n CH-9  ,"x "\n,\n')).toEqual([
    { cells: ['a', 'b'], line: 1 },
    { cells: ['CH-9', 'x '], line: 2, untrimmed: new Map([[0, ' CH-9  ']]) },
  ]);
});

test('a quote inside a cell is a character, two in quotes are one', () => {
  expect(cells('a"b,"c""d", "e" \n')).toEqual([['a"b', 'c"d', 'e']]);
});

test('a quote that is never closed is told with the line that opens it', () => {
  expect(() => read('a,b\n1,"open\nand so on\n')).toThrow(CsvError);
  expect(() => read('a,b\n1,"open\nand so on\n')).toThrow(expect.objectContaining({ line: 2 }));
});

test.each<[string, string]>([
  ['cells without end', 'abc,'.repeat(16_384)],
  ['empty cells without end', ','.repeat(65_536)],
  ['one cell without end', 'x'.repeat(65_536)],
  ['cells in quotes without end', '"a\nb",'.repeat(8_192)],
])('a record of %s ends the reading, with the line in which it begins', (_what, part) => {
  const reader = new CsvReader(() => undefined);
  reader.take('a,b\n1,2\n');
  const fill = () => {
    for (let count = 0; count < 200; count += 1) reader.take(part);
  };
  expect(fill).toThrow(expect.objectContaining({ line: 3, why: 'record' }));
});

test('many records are read, however long they are together', () => {
  const text = `${'x'.repeat(1_000_000)},y\n`.repeat(6);
  expect(read(text, 65_536)).toHaveLength(6);
});

const numbered = (text: string, piece?: number) =>
  read(text, piece).map((record) => [record.line, record.cells]);

test.each<[string, string, [number, string[]][]]>([
  ['nothing', '', []],
  ['blank lines', '\n\r\n  \n,,\n', []],
  [
    'cells',
    'a, b ,c\n1,,3',
    [
      [1, ['a', 'b', 'c']],
      [2, ['1', '', '3']],
    ],
  ],
  [
    'all line ends',
    'a\r\nb\rc\nd',
    [
      [1, ['a']],
      [2, ['b']],
      [3, ['c']],
      [4, ['d']],
    ],
  ],
  [
    'quotes',
    '"a,b","c""d" , "e\n\r\nf"\ng',
    [
      [1, ['a,b', 'c"d', 'e\n\r\nf']],
      [4, ['g']],
    ],
  ],
  ['a quote inside of a cell', '5" pipe,"x"y,""\n', [[1, ['5" pipe', 'xy', '']]]],
  ['spaces in quotes', '" a " b ', [[1, [' a  b']]]],
  [
    'ragged rows',
    'a,b\n1\n1,2,3',
    [
      [1, ['a', 'b']],
      [2, ['1']],
      [3, ['1', '2', '3']],
    ],
  ],
  ['HTML and formulas', '<b>&,=1+1,@x', [[1, ['<b>&', '=1+1', '@x']]]],
  ['marks and NUL', '\u202ea\u0000,b\ufeff', [[1, ['\u202ea\u0000', 'b']]]],
])('%s', (_name, text, records) => {
  for (let step = 1; step <= Math.max(1, text.length); step += 1) {
    expect(numbered(text, step)).toEqual(records);
  }
});

test('a word of 64 KB is one cell; a quote that is never closed does not gather the whole file', () => {
  const word = 'x'.repeat(65_536);
  expect(numbered(`a,${word}`, 1_000)).toEqual([[1, ['a', word]]]);
  const open = `"${'x'.repeat(5 * 1024 * 1024)}`;
  expect(() => read(open, 65_536)).toThrow(expect.objectContaining({ line: 1 }));
});

test('whatever the cells hold, they come back, in pieces of any length', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' ', '报') });
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 9 }), (rows, piece) => {
      const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
      const text = [['x', 'y'], ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
      const filled = rows.filter((row) => row.some((it) => it !== ''));
      expect(read(text, piece).map((record) => record.cells)).toEqual([['x', 'y'], ...filled]);
    }),
  );
});
