/** A count that stops at its limit: the answer begins with the first bucket that was counted as a whole. */
import { createStatsQuery } from '../../../src/queries/push-stats';
import type { PeriodCount } from '../../../src/storage/push-log';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-25T10:00:00Z');
const count = (start: number): PeriodCount => ({
  ...{ start, latest: start, clientId: 'c', operation: 'upsert', result: 'CREATED', pushes: 1 },
});

async function startsOf(by: string, cutAt: number, timeZone: string) {
  const starts = Array.from({ length: 72 }, (_, hour) => cutAt + hour * HOUR);
  const counts = {
    read: async () => ({ counts: starts.map(count), cutAt }),
    unrecorded: async () => 0,
  };
  const query = createStatsQuery({ counts, timeZone, clock: () => NOW });
  const asked = { by, from: new Date(cutAt - 24 * HOUR).toISOString() };
  const caller = { systemCode: 's', clientId: 'c', secretId: 's1', language: 'zh' } as const;
  const { from, rows, complete } = await query({ ...caller, body: asked });
  expect(complete).toBe(false);
  expect(rows[0]?.start).toBe(from);
  return from;
}

test('an hour that was counted as a whole is not omitted', async () => {
  const cutAt = Date.parse('2026-11-24T07:00:00Z');
  expect(await startsOf('hour', cutAt, 'Asia/Shanghai')).toBe('2026-11-24T07:00:00.000Z');
});

test.each([
  ['at its start', '2026-11-23T16:00:00Z', '2026-11-23T16:00:00.000Z'],
  ['within it', '2026-11-23T17:00:00Z', '2026-11-24T16:00:00.000Z'],
])('a day that is cut %s', async (_name, cutAt, from) => {
  expect(await startsOf('day', Date.parse(cutAt), 'Asia/Shanghai')).toBe(from);
});

test('a day of 25 hours that is cut in its first hour is omitted', async () => {
  // In New York, 2026-11-01 begins at 04:00 UTC and has 25 hours.
  const cutAt = Date.parse('2026-11-01T05:00:00Z');
  expect(await startsOf('day', cutAt, 'America/New_York')).toBe('2026-11-02T05:00:00.000Z');
});
