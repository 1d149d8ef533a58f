/** The overview of the console: which windows are compared, and how what comes back is added up. */

import { askOverview } from '../../public/console/overview-data';
import {
  barsOf,
  ledgerOf,
  minuteAt,
  partsOf,
  reasonsOf,
  stepOf,
  windowsOf,
} from '../../public/console/overview-sums';
import { begin } from '../../public/console/session';
import type { Stats } from '../../public/console/shapes-stats';

const ZONE = 'Asia/Shanghai';
const NOW = Date.parse('2026-03-02T02:37:00Z');

test('today is compared with yesterday up to the same minute', () => {
  expect(minuteAt(NOW, ZONE)).toBe('2026-03-02T10:37');
  expect(windowsOf({}, ZONE, NOW)).toEqual({
    ...{ now: { from: '2026-03-02T00:00', to: '2026-03-02T10:37' }, isOpen: true, days: 1 },
    before: { from: '2026-03-01T00:00', to: '2026-03-01T10:37' },
  });
});

test.each([
  [{ range: 'yesterday' }, '2026-02-28T00:00', '2026-03-01T00:00', 1],
  [{ range: 'week' }, '2026-02-17T00:00', '2026-02-23T10:37', 7],
  [
    { range: 'custom', from: '2026-03-01T08:00', to: '2026-03-01T11:00' },
    ...(['2026-02-28T08:00', '2026-02-28T11:00', 1] as const),
  ],
  // Open to the past: a day.
  [{ range: 'custom', to: '2026-03-01T11:00' }, '2026-02-27T11:00', '2026-02-28T11:00', 1],
])('%j is compared with as many whole days before', (params, from, to, days) => {
  expect(windowsOf(params as Record<string, string>, ZONE, NOW)).toMatchObject({
    before: { from, to },
    days,
  });
});

test('a window of the past is counted to the minute, in whole hours and what is over', () => {
  const [from, hour, to] = ['2026-03-01T00:00', '2026-03-01T10:00', '2026-03-01T10:37'];
  expect(partsOf({ from, to })).toEqual([
    { from, to: hour, by: 'hour' },
    { from: hour, to, by: 'minute' },
  ]);
  expect(partsOf({ from, to: hour })).toEqual([{ from, to: hour, by: 'hour' }]);
  expect(partsOf({ from: '2026-03-01T10:05', to })).toEqual([
    { from: '2026-03-01T10:05', to, by: 'minute' },
  ]);
  expect([stepOf({ from, to }), stepOf({ from: '2026-02-20T00:00', to })]).toEqual(['hour', 'day']);
});

describe('what comes back', () => {
  const counted = (
    start: string,
    pushes: number,
    outcome: string | null,
    reason: string | null,
  ) => ({
    ...{ start, operation: 'upsert', outcome, reason, pushes },
  });
  const stats: Stats = {
    ...{ from: '2026-03-01T16:00:00Z', to: '2026-03-01T19:00:00Z', by: 'hour', complete: true },
    total: { pushes: 30, succeeded: 20, failed: 10 },
    rows: [
      counted('2026-03-01T16:00:00Z', 5, 'CREATED', null),
      counted('2026-03-01T16:00:00Z', 6, 'UPDATED', null),
      counted('2026-03-01T18:00:00Z', 9, 'REPLAYED', null),
      counted('2026-03-01T18:00:00Z', 3, null, 'UNKNOWN_USER'),
      counted('2026-03-01T18:00:00Z', 4, null, 'BACKLOG_FULL'),
      counted('2026-03-01T16:00:00Z', 3, null, 'BACKLOG_FULL'),
    ],
  };

  test('has a bar for each hour, also where nothing came', () => {
    expect(
      barsOf(stats).map(({ written, unchanged, failed }) => [written, unchanged, failed]),
    ).toEqual([
      [11, 0, 3],
      [0, 0, 0],
      [0, 9, 7],
    ]);
  });

  test('names the most frequent reason first', () => {
    expect(reasonsOf(stats)).toEqual([
      ['BACKLOG_FULL', 7],
      ['UNKNOWN_USER', 3],
    ]);
  });

  test('tells of the ledger how much of each type is open', () => {
    const bucket = (bizType: string | null, count: number) => ({ bizType, count });
    const all = [bucket('LEAVE', 2), bucket(null, 1), bucket('LEAVE', 5)];
    expect(ledgerOf(all, [bucket('LEAVE', 4)])).toEqual([
      { type: 'LEAVE', all: 7, open: 4 },
      { type: null, all: 1, open: 0 },
    ]);
  });
});

describe('what still fails', () => {
  /** So many pages of failures whose matters are mended; behind them one that is not. */
  const askedOf = async (mendedPages: number) => {
    let atOnce = 0;
    let most = 0;
    const fetch = async (url: URL, { body }: RequestInit) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      if (url.pathname.endsWith('/stats')) {
        return Response.json({ code: 0, data: { total: { pushes: 1, succeeded: 1 } } });
      }
      const { count, cursor = 0, from } = JSON.parse(Buffer.from(body as Buffer).toString());
      if (count) return Response.json({ code: 0, data: { count: { value: 0, exact: true } } });
      const isLast = Number(cursor) === mendedPages;
      const rows = isLast ? [{ externalId: `OF ${from}` }] : [];
      return Response.json({ code: 0, data: { rows, nextCursor: isLast ? null : cursor + 1 } });
    };
    Object.assign(globalThis, { fetch, location: { href: 'http://h/console' } });
    Object.assign(globalThis, { sessionStorage: new Map() });
    begin({ clientId: 'c', key: 'k' });
    const { now } = await askOverview(windowsOf({}, ZONE, NOW), new AbortController().signal);
    return { ...now.stillFailed, most };
  };

  test('is found behind what was mended, and few questions are asked at a time', async () => {
    expect(await askedOf(3)).toEqual({ value: 1, exact: true, most: 2 });
  });

  test('is not called nothing where not all of it was looked at', async () => {
    expect(await askedOf(100)).toMatchObject({ value: 0, exact: false });
  });
});
