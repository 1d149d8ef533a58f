/** The digest, against a second way of computing it, and the days that it is counted by. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { createDayCalendar } from '../../../src/queries/day-calendar';
import { createBucketDigest, type DigestLine } from '../../../src/queries/digest';

type Line = DigestLine & { readonly bizType: string | null };

const utcDay = (instant: number) => new Date(instant).toISOString().slice(0, 10);
const line = (externalId: string, over: Partial<Line> = {}): Line => ({
  externalId,
  bizStatus: 'PENDING',
  externalStatusCode: null,
  sourceUpdatedAt: Date.UTC(2026, 0, 2, 3),
  bizType: 'oa',
  ...over,
});

function digestOf(lines: readonly Line[], dayOf = utcDay) {
  const digest = createBucketDigest(dayOf);
  for (const each of lines) digest.add(each);
  return digest;
}

/** As a caller in another language would: whole digests as big numbers. */
function expectedHash(lines: readonly Line[]): string {
  const sum = lines.reduce((total, { externalId, bizStatus, ...rest }) => {
    const fields = [externalId, bizStatus, rest.externalStatusCode || '', rest.sourceUpdatedAt];
    const text = fields.map((field) => (field === null ? '' : String(field))).join('\n');
    const hex = createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex');
    return total ^ BigInt(`0x${hex.slice(0, 16)}`);
  }, 0n);
  return sum.toString(16).padStart(16, '0');
}

test('other programs compute the same', () => {
  // By Python's hashlib and sha256sum.
  const first = line('HD-1');
  const second = line('请假-1', {
    bizStatus: 'DONE',
    externalStatusCode: '已批',
    sourceUpdatedAt: 1_767_322_800_123,
  });
  const third = line('HD-3', { sourceUpdatedAt: null });
  expect(digestOf([first]).total()).toEqual({ count: 1, hash: '849321a657174a58' });
  expect(digestOf([second]).total()).toEqual({ count: 1, hash: '545bcc01a3505453' });
  expect(digestOf([third]).total()).toEqual({ count: 1, hash: 'ee06390148540bbe' });
  const all = { count: 3, hash: '3eced4a6bc1315b5' };
  expect(digestOf([first, second, third]).total()).toEqual(all);
});

test('nothing at all', () => {
  const nothing = digestOf([]);
  expect(nothing.total()).toEqual({ count: 0, hash: '0000000000000000' });
  expect(nothing.buckets()).toEqual([]);
});

test.each<[string, Partial<Line>]>([
  ['externalId', { externalId: 'HD-2' }],
  ['bizStatus', { bizStatus: 'DONE' }],
  ['externalStatusCode', { externalStatusCode: 'S1' }],
  ['sourceUpdatedAt', { sourceUpdatedAt: Date.UTC(2026, 0, 2, 3) + 1 }],
  ['no sourceUpdatedAt', { sourceUpdatedAt: null }],
])('the hash tells another %s', (_, over) => {
  const [before, after] = [digestOf([line('HD-1')]), digestOf([line('HD-1', over)])];
  expect(after.total().hash).not.toBe(before.total().hash);
});

test('no code and an empty one are the same', () => {
  const empty = digestOf([line('HD-1', { externalStatusCode: '' })]);
  expect(empty.total()).toEqual(digestOf([line('HD-1')]).total());
});

test('buckets are in the order of bizType, then day; absent ones come first', () => {
  const days = [Date.UTC(2026, 1, 1), null, Date.UTC(2025, 11, 31)];
  const lines = ['oa', null, 'erp', 'Oa'].flatMap((bizType) =>
    days.map((sourceUpdatedAt, n) => line(`${bizType}-${n}`, { bizType, sourceUpdatedAt })),
  );
  const digest = digestOf(lines);
  expect(digest.buckets().map(({ bizType, day }) => [bizType, day])).toEqual(
    [null, 'Oa', 'erp', 'oa'].flatMap((bizType) =>
      [null, '2025-12-31', '2026-02-01'].map((day) => [bizType, day]),
    ),
  );
  expect(digest.size()).toBe(12);
});

const anyLine = fc.record<Line>({
  externalId: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
  bizStatus: fc.constantFrom('PENDING', 'DONE'),
  externalStatusCode: fc.option(fc.string({ maxLength: 4 })),
  sourceUpdatedAt: fc.option(fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) })),
  bizType: fc.option(fc.constantFrom('', 'oa', 'erp', '审批')),
});

test('it is what anybody else computes, as a whole and in each bucket', () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 30 }), (lines) => {
      const digest = digestOf(lines);
      expect(digest.total()).toEqual({ count: lines.length, hash: expectedHash(lines) });
      for (const { bizType, day, ...rest } of digest.buckets()) {
        const own = lines.filter(({ sourceUpdatedAt, ...one }) => {
          const ownDay = sourceUpdatedAt === null ? null : utcDay(sourceUpdatedAt);
          return one.bizType === bizType && ownDay === day;
        });
        expect(rest).toEqual({ count: own.length, hash: expectedHash(own) });
      }
    }),
  );
});

test('the order of the matters does not matter', () => {
  const shuffled = fc
    .array(anyLine, { maxLength: 30 })
    .chain((lines) =>
      fc.tuple(fc.constant(lines), fc.shuffledSubarray(lines, { minLength: lines.length })),
    );
  fc.assert(
    fc.property(shuffled, ([lines, others]) => {
      expect(digestOf(others).total()).toEqual(digestOf(lines).total());
      expect(digestOf(others).buckets()).toEqual(digestOf(lines).buckets());
    }),
  );
});

describe('the days of a zone', () => {
  test.each([
    ['Asia/Shanghai', '2026-01-01T15:59:59.999Z', '2026-01-01'],
    ['Asia/Shanghai', '2026-01-01T16:00:00.000Z', '2026-01-02'],
    ['Asia/Kathmandu', '2026-01-01T18:14:59.999Z', '2026-01-01'],
    ['Asia/Kathmandu', '2026-01-01T18:15:00.000Z', '2026-01-02'],
    // The day that has 23 hours, and the one that has 25.
    ['Europe/Berlin', '2026-03-29T21:59:59.999Z', '2026-03-29'],
    ['Europe/Berlin', '2026-03-29T22:00:00.000Z', '2026-03-30'],
    ['Europe/Berlin', '2026-10-25T22:59:59.999Z', '2026-10-25'],
    ['Europe/Berlin', '2026-10-25T23:00:00.000Z', '2026-10-26'],
    // Midnight was left out there.
    ['America/Sao_Paulo', '2018-11-04T02:59:59.999Z', '2018-11-03'],
    ['America/Sao_Paulo', '2018-11-04T03:00:00.000Z', '2018-11-04'],
    // The 30th was left out there.
    ['Pacific/Apia', '2011-12-30T09:59:59.999Z', '2011-12-29'],
    ['Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-31'],
    ['Asia/Shanghai', '1969-12-31T15:59:59.999Z', '1969-12-31'],
  ])('%s at %s is %s', (zone, instant, day) => {
    expect(createDayCalendar(zone)(Date.parse(instant))).toBe(day);
  });

  test.each(['Asia/Shanghai', 'Europe/Berlin', 'America/Havana', 'Australia/Lord_Howe', 'UTC'])(
    'in %s an instant has the same day whatever was asked before',
    (zone) => {
      const dayOf = createDayCalendar(zone);
      // Within two years, so that days are met again.
      const instant = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2026, 11, 31) });
      fc.assert(
        fc.property(fc.array(instant, { maxLength: 50 }), (instants) => {
          for (const each of instants) {
            expect(dayOf(each)).toBe(DateTime.fromMillis(each, { zone }).toISODate());
          }
        }),
      );
    },
  );
});
