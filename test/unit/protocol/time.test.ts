/** Times on the wire (contract 4.6): one instant, many ways to write it. */
import fc from 'fast-check';
import { DateTime } from 'luxon';
import {
  formatLocal,
  formatUnambiguous,
  isWritableInstant,
  parseDateTime,
  parseInstant,
} from '../../../src/protocol/time';
import { createDayCalendar } from '../../../src/queries/day-calendar';

const ZONES = ['Asia/Shanghai', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'UTC'];
const zones = fc.constantFrom(...ZONES);
const SHANGHAI = 'Asia/Shanghai';
/** Of a year below 100 the calendar library takes the end of a day for its beginning. */
const isReadByCalendar = (text: string) => !/^00.{9}24:/.test(text);
/** 2024-06-01T00:00:00Z, which is 08:00 in Shanghai. */
const INSTANT = 1_717_200_000_000;

test.each<[string, string | number]>([
  ['epoch seconds', 1_717_200_000],
  ['epoch seconds as digits', '1717200000'],
  ['epoch milliseconds', 1_717_200_000_000],
  ['epoch milliseconds as digits', '1717200000000'],
  ['ISO-8601 in UTC', '2024-06-01T00:00:00Z'],
  ['ISO-8601 with milliseconds', '2024-06-01T00:00:00.000Z'],
  ['ISO-8601 with nanoseconds', '2024-06-01T00:00:00.000000000Z'],
  ['ISO-8601 with offset', '2024-06-01T02:00:00+02:00'],
  ['ISO-8601 with negative offset', '2024-05-31T19:00:00-05:00'],
  ['ISO-8601 with offset without colon', '2024-06-01T08:00:00+0800'],
  ['ISO-8601 local', '2024-06-01T08:00:00'],
  ['ISO-8601 local to the minute', '2024-06-01T08:00'],
  ['yyyy-MM-dd HH:mm:ss', '2024-06-01 08:00:00'],
  ['yyyyMMddHHmmss', '20240601080000'],
  ['yyyyMMddHHmmss as a number', 20_240_601_080_000],
])('%s', (_, value) => {
  expect(parseInstant(value, SHANGHAI)).toBe(INSTANT);
});

test('fractions of a second are kept to the millisecond', () => {
  expect(parseInstant('2024-06-01T08:00:00.123456', SHANGHAI)).toBe(INSTANT + 123);
});

test('a local time is read in the zone of the portal', () => {
  expect(parseInstant('2024-06-01 00:00:00', 'UTC')).toBe(INSTANT);
  expect(parseInstant('2024-05-31 20:00:00', 'America/New_York')).toBe(INSTANT);
});

test.each<[string, string | number]>([
  ['empty', ''],
  ['blank', ' '],
  ['words', 'yesterday'],
  ['a date alone', '2024-06-01'],
  ['a time alone', '08:00:00'],
  ['slashes', '2024/06/01 08:00:00'],
  ['day first', '01-06-2024 08:00:00'],
  ['RFC 2822', 'Sat, 01 Jun 2024 00:00:00 GMT'],
  ['month 13', '2024-13-01T00:00:00Z'],
  ['30 February', '2024-02-30T00:00:00Z'],
  ['29 February of no leap year', '2023-02-29 00:00:00'],
  ['hour 25', '2024-06-01T25:00:00'],
  ['minute 60', '2024-06-01T00:60:00'],
  ['second 61', '2024-06-01T00:00:61'],
  ['an offset that no place has', '2024-06-01T00:00:00+25:00'],
  ['an offset with 99 minutes', '2024-06-01T00:00:00+01:99'],
  ['junk behind', '2024-06-01T00:00:00Zx'],
  ['a line feed behind', '2024-06-01T00:00:00Z\n'],
  ['space before', ' 1717200000'],
  ['signed digits', '-1717200000'],
  ['fractional digits', '1717200000.5'],
  ['exponent', '1e9'],
  ['hex', '0x665a6500'],
  ['a fraction', 1_717_200_000.5],
  ['negative', -1],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['microseconds', 1_717_200_000_000_000],
  ['microseconds as digits', '1717200000000000'],
  ['a date in eight digits', '20240601'],
  ['a date as a number', 20_240_601],
  ['fourteen digits that are no date', '20241301080000'],
  ['fourteen digits that are no time', 20_240_601_250_000],
  ['before the year 0', '0000-01-01T00:00:00+14:00'],
  ['beyond what a date can hold', Number.MAX_SAFE_INTEGER],
])('%s is no time: %j', (_, value) => {
  expect(parseInstant(value, SHANGHAI)).toBeUndefined();
});

test('eight digits that are no date are epoch seconds', () => {
  expect(parseInstant('99999999', SHANGHAI)).toBe(99_999_999_000);
  expect(parseInstant(20_240_231, SHANGHAI)).toBe(20_240_231_000);
});

test('a year that can be written and read again is from 1970 to 9999, in the zone of the portal', () => {
  const years = ['1969-12-31T23:59:59', '1970-01-01T00:00:00', '9999-12-31T23:59:59'];
  const areWritable = years.map((text) =>
    isWritableInstant(Number(parseDateTime(text, SHANGHAI)), SHANGHAI),
  );
  expect(areWritable).toEqual([false, true, true]);
  const beyond = Number(parseDateTime('9999-12-31T23:59:59-08:00', SHANGHAI));
  expect(isWritableInstant(beyond, SHANGHAI)).toBe(false);
});

test('seconds and milliseconds part where neither can be meant otherwise', () => {
  // 99,999,999,999 s is the year 5138; 100,000,000,000 ms is 1973.
  expect(parseInstant(99_999_999_999, SHANGHAI)).toBe(99_999_999_999_000);
  expect(parseInstant(100_000_000_000, SHANGHAI)).toBe(100_000_000_000);
});

test('a deadline is a date-time, never a number', () => {
  expect(parseDateTime('2024-06-01T08:00:00', SHANGHAI)).toBe(INSTANT);
  expect(parseDateTime('2024-06-01T02:00:00+02:00', SHANGHAI)).toBe(INSTANT);
  expect(parseDateTime('1717200000', SHANGHAI)).toBeUndefined();
});

test.each([
  [SHANGHAI, '2024-06-01T08:00:00'],
  ['UTC', '2024-06-01T00:00:00'],
])('an instant is written as local date-time of %s, and read back the same', (zone, text) => {
  expect(formatLocal(INSTANT, zone)).toBe(text);
  expect(parseDateTime(text, zone)).toBe(INSTANT);
  expect(parseDateTime(formatLocal(INSTANT + 5, zone), zone)).toBe(INSTANT + 5);
});

test('the end of a day is the beginning of the next one, also in the first years', () => {
  const next = Date.parse('0000-01-02T00:00:00Z');
  expect(parseDateTime('0000-01-01T24:00:00Z', SHANGHAI)).toBe(next);
});

test('whatever has an offset is read as the calendar does', () => {
  const padded = (min: number, max: number, digits: number) =>
    fc.integer({ min, max }).map((part) => String(part).padStart(digits, '0'));
  // Often the end of a short month, which the two ways of reading tell apart.
  const month = fc.oneof(padded(0, 13, 2), fc.constantFrom('02', '04'));
  const day = fc.oneof(padded(0, 32, 2), fc.constantFrom('28', '29', '30', '31'));
  const texts = fc
    .tuple(
      ...[padded(0, 9_999, 4), month, day, padded(0, 24, 2)],
      ...[padded(0, 60, 2), padded(0, 60, 2)],
      fc.constantFrom('', '.5', '.123', '.123456'),
      fc.constantFrom('Z', '+00:00', '+08:00', '-05:30', '+23:59', '-24:00'),
    )
    .map(
      ([year, month, day, hour, minute, second, fraction, offset]) =>
        `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${offset}`,
    )
    .filter(isReadByCalendar);
  fc.assert(
    fc.property(texts, (text) => {
      const calendar = DateTime.fromISO(text);
      const expected =
        calendar.isValid && !text.endsWith('-24:00') ? calendar.toMillis() : undefined;
      expect(parseDateTime(text, SHANGHAI)).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
});

describe('local times', () => {
  const two = (max: number) => fc.integer({ min: 0, max }).map((it) => String(it).padStart(2, '0'));
  const year = fc.constantFrom('1890', '1971', '1991', '2024', '2026', '0099', '9999');
  const texts = fc
    .tuple(year, two(13), two(32), fc.constantFrom('T', ' '), two(25), two(61))
    .chain(([y, month, day, between, hour, minute]) =>
      fc
        .constantFrom('', ':00', ':59.123456', ':30Z', '+08:00', ':00-0330', 'Z')
        .map((end) => `${y}-${month}-${day}${between}${hour}:${minute}${end}`),
    )
    .filter(isReadByCalendar);
  const calendar = (text: string, zone: string) => {
    const moment = DateTime.fromISO(text.replace(' ', 'T'), { zone });
    return moment.isValid ? moment.toMillis() : undefined;
  };

  test('are read as the calendar reads them', () => {
    fc.assert(
      fc.property(texts, zones, (text, zone) => {
        expect(parseDateTime(text, zone)).toBe(calendar(text, zone));
      }),
      { numRuns: 500 },
    );
  });

  test('are read so around the hours that clocks skip and repeat', () => {
    for (let minute = 0; minute < 6 * 60; minute += 7) {
      for (const day of ['2024-03-31', '2024-10-27', '2024-03-10', '2024-11-03']) {
        const text = `${day}T${new Date(minute * 60_000).toISOString().slice(11, 16)}`;
        for (const zone of ZONES) {
          expect([zone, text, parseInstant(text, zone)]).toEqual([
            zone,
            text,
            calendar(text, zone),
          ]);
        }
      }
    }
  });

  test.each([
    ['Asia/Shanghai', '1900-12-31T15:54:17Z'],
    ['America/St_Johns', '2010-11-07T02:31:00Z'],
    ['Asia/Kathmandu', '1985-12-31T18:30:00Z'],
    ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ])(
    'are written as the calendar writes them where the offset of %s changes: %s',
    (zone, change) => {
      const seen = new Set<number>();
      for (let seconds = -5_400; seconds <= 5_400; seconds += 29) {
        const moment = DateTime.fromMillis(Date.parse(change) + seconds * 1_000, { zone });
        seen.add(moment.offset);
        const format = { includeOffset: false, suppressMilliseconds: true };
        expect(formatLocal(moment.toMillis(), zone)).toBe(moment.toISO(format));
      }
      expect(seen.size).toBe(2);
    },
  );

  const instants = fc.integer({ min: Date.UTC(1880, 0), max: Date.UTC(2080, 0) });
  test('are written as the calendar writes them, on the same day', () => {
    const days = new Map(ZONES.map((zone) => [zone, createDayCalendar(zone)]));
    const format = { includeOffset: false, suppressMilliseconds: true };
    fc.assert(
      fc.property(instants, zones, (instant, zone) => {
        const moment = DateTime.fromMillis(instant, { zone });
        expect(formatLocal(instant, zone)).toBe(moment.toISO(format));
        expect(days.get(zone)?.(instant)).toBe(moment.toISODate());
        expect(isWritableInstant(instant, zone)).toBe(moment.year >= 1970);
        expect(parseDateTime(formatUnambiguous(instant, zone), zone)).toBe(instant);
      }),
      { numRuns: 500 },
    );
  });
});
