/** CSV for spreadsheets: quoting, formulas, nested fields. */
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvCell, csvOf, csvRecord } from '../../../tools/matterctl/log/csv';
import { anEntryView } from '../../support/log-views';

test.each([
  ['plain', 'plain'],
  ['报销单', '报销单'],
  ['', ''],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\nlines', '"two\nlines"'],
  ['two\r\nlines', '"two\r\nlines"'],
  [' padded ', '" padded "'],
])('%j is written as %j', (text, cell) => {
  expect(csvCell(text)).toBe(cell);
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1+1', '＋1', '－1', '＠x'])(
  '%j does not become a formula',
  (text) => {
    const [[cell = ''] = []] = parse(csvCell(text)) as string[][];
    expect(cell).toBe(`'${text}`);
  },
);

test('a formula that has to be quoted is guarded within its quotes', () => {
  expect(csvCell('=HYPERLINK("x","y")')).toBe(`"'=HYPERLINK(""x"",""y"")"`);
});

test('any other record is read back as it was', () => {
  const cell = fc
    .string({ unit: 'binary' })
    .filter((text) => !/^[=+\-@\t\r＝＋－＠\ufeff]/.test(text));
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 5 }), (cells) => {
      expect(parse(csvRecord(cells), { record_delimiter: '\r\n' })).toEqual([cells]);
    }),
  );
});

test('an entry has a cell for each of its fields; lists are JSON, what is absent is empty', () => {
  const view = anEntryView({
    externalId: '=cmd|A1',
    problems: [{ field: 'title', message: '必填, "title"' }],
    stale: { sent: '2024-06-01T00:00:00.000Z', stored: '2024-06-02T00:00:00.000Z' },
  });
  const [row] = parse(`${csvOf(true).header()}\r\n${csvOf(true).row(view)}\r\n`, {
    columns: true,
  }) as Record<string, string>[];
  expect(Object.keys(row ?? {}).sort()).toEqual(Object.keys(view).sort());
  expect(row).toMatchObject({
    requestId: view.requestId,
    externalId: "'=cmd|A1",
    attempt: '',
    changes: '',
    bodySize: '12',
  });
  expect(JSON.parse(row?.problems ?? '')).toEqual(view.problems);
  expect(JSON.parse(row?.stale ?? '')).toEqual(view.stale);
});

test('control characters stay out', () => {
  const row = csvOf(true).row(anEntryView({ externalId: 'A\u001b[2J\u009b1m' }));
  expect(row).not.toMatch(/\p{Cc}/u);
  expect(row).toContain('A [2J 1m');
});

test('what only operators are told is no column where a client asks', () => {
  const [header = '', ofOperators = ''] = [csvOf(false).header(), csvOf(true).header()];
  expect(header.split(',')).toEqual(
    ofOperators.split(',').filter((name) => name !== 'worker' && name !== 'operator'),
  );
});
