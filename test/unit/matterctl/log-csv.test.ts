/** CSV for spreadsheets: quoting, formulas, nested fields. */
import { parse } from 'csv-parse/sync';
import { csvOf } from '../../../tools/matterctl/log/csv';
import { anEntryView } from '../../support/log-views';

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
