/** Times of spreadsheets: brought into the service's form, with what they leave open. */
import { readFileTime } from '../../../src/files/times';

const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000];

test.each<[string, string, number]>([
  ['2026/11/25 9:20', '2026-11-25T09:20:00', MINUTE],
  ['2026/1/5 9:05:30', '2026-01-05T09:05:30', SECOND],
  ['2026-11-25', '2026-11-25T00:00:00', DAY],
  ['2026-1-5 18:00', '2026-01-05T18:00:00', MINUTE],
  ['2026.11.25 09:20:30', '2026-11-25T09:20:30', SECOND],
  ['2026/11/25  09:20:30.5', '2026-11-25T09:20:30.5', 1],
  ['2026年11月25日', '2026-11-25T00:00:00', DAY],
  ['2026年1月5日 9:20', '2026-01-05T09:20:00', MINUTE],
  ['2026年1月5日9:20', '2026-01-05T09:20:00', MINUTE],
  ['2026-1-5T9:20', '2026-01-05T09:20:00', MINUTE],
  ['20261125092030', '2026-11-25T09:20:30', SECOND],
  // As the service reads them, unchanged.
  ['2026-11-25 09:20', '2026-11-25 09:20', MINUTE],
  ['2026-11-25T09:20:30+08:00', '2026-11-25T09:20:30+08:00', SECOND],
  ['2026-11-25T09:20:30.123Z', '2026-11-25T09:20:30.123Z', 1],
  ['1717200000', '1717200000', 1],
  ['1717200000123', '1717200000123', 1],
  // What is none is left to be told as that.
  ['yesterday', 'yesterday', 1],
  ['25/11/2026', '25/11/2026', 1],
  ['2026/11-25', '2026/11-25', 1],
  ['2026-11-25TTT 9:20', '2026-11-25TTT 9:20', 1],
  ['2026-11-25T 9:20', '2026-11-25T 9:20', 1],
  ['2026-11-25 T9:20', '2026-11-25 T9:20', 1],
  ['2026-11-259:20', '2026-11-259:20', 1],
  ['2026/1/29:20', '2026/1/29:20', 1],
  ['2026年1月5日T T9:20', '2026年1月5日T T9:20', 1],
])('%s', (cell, text, precision) => {
  expect(readFileTime(cell)).toEqual({ text, precision, isSerial: false });
});

test.each<[string, string]>([
  ['46351', '2026-11-25T00:00:00'],
  ['46351.3888888889', '2026-11-25T09:20:00'],
  ['46351.5', '2026-11-25T12:00:00'],
  ['36526', '2000-01-01T00:00:00'],
  ['73050', '2099-12-31T00:00:00'],
])('%s is the number of a day', (cell, text) => {
  expect(readFileTime(cell)).toMatchObject({ text, isSerial: true });
});

test.each(['36525', '73051'])('%s is no number of a day from 2000 to 2099', (cell) => {
  expect(readFileTime(cell)?.isSerial).not.toBe(true);
});

test('a day without separators is no time: nobody means that many seconds', () => {
  expect(readFileTime('20261125')).toBeUndefined();
});
