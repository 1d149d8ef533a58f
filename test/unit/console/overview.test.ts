/** The overview of the console: which windows are compared, and how what comes back is added up. */

import { begin } from '../../../browser/console/read/session';
import type { OwnSelf } from '../../../browser/console/read/setup-shapes';
import type { Stats } from '../../../browser/console/read/shapes-stats';
import { askOverview } from '../../../browser/console/screens/overview/data';
import { countText } from '../../../browser/console/screens/overview/overview';
import {
  axisOf,
  barsOf,
  changeText,
  joined,
  ledgerOf,
  minuteAt,
  minutesOfWaiting,
  partsOf,
  reasonsOf,
  stepOf,
  windowsOf,
} from '../../../browser/console/screens/overview/sums';

const ZONE = 'Asia/Shanghai';
const NOW = Date.parse('2026-03-02T02:37:00Z');

test.each([
  [0, [0, 1]],
  [3, [0, 1, 2, 3]],
  [54, [0, 20, 40, 60]],
  [100, [0, 20, 40, 60, 80, 100]],
  [4_321, [0, 1_000, 2_000, 3_000, 4_000, 5_000]],
])('the axis of bars up to %i has the marks %j', (max, marks) => {
  expect(axisOf(max)).toEqual(marks);
});

test.each([
  [12, 12, ''],
  [81, 12, '+575 %'],
  [6, 12, '−50 %'],
  [1_200, 0, '+1,200'],
  [0, 12, '−100 %'],
])('%i after %i is the change “%s”', (now, before, text) => {
  expect(changeText(now, before)).toBe(text);
});

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

test.each([
  ['2026-03-01T00:00', '2026-03-01T10:00', ['00:00 hour 10:00']],
  ['2026-03-01T00:00', '2026-03-01T10:37', ['00:00 hour 10:00', '10:00 minute 10:37']],
  [
    ...(['2026-03-01T08:05', '2026-03-01T11:20'] as const),
    ['08:05 minute 09:00', '09:00 hour 11:00', '11:00 minute 11:20'],
  ],
  ['2026-03-01T10:05', '2026-03-01T10:37', ['10:05 minute 10:37']],
  ['2026-03-01T10:05', '2026-03-01T11:02', ['10:05 minute 11:02']],
  ['2026-02-20T00:00', '2026-03-01T00:00', ['00:00 day 00:00']],
  [
    ...(['2026-01-20T22:30', '2026-03-01T01:10'] as const),
    [
      ...['22:30 minute 23:00', '23:00 hour 00:00', '00:00 day 00:00'],
      ...['00:00 hour 01:00', '01:00 minute 01:10'],
    ],
  ],
])(
  'from %s to %s is counted to the minute, in as few questions as that takes',
  (from, to, told) => {
    const parts = partsOf({ from, to });
    expect(parts.map((it) => `${it.from.slice(11)} ${it.by} ${it.to?.slice(11)}`)).toEqual(told);
    expect([parts[0]?.from, parts.at(-1)?.to]).toEqual([from, to]);
    for (const [at, part] of parts.slice(1).entries()) expect(part.from).toBe(parts[at]?.to);
  },
);

test('a window that goes on is counted up to now', () => {
  const [from, to] = ['2026-03-02T00:00', '2026-03-02T10:37'];
  expect(partsOf({ from, to }, true)).toEqual([{ from, by: 'hour' }]);
  expect(partsOf({ from: '2026-03-02T08:05', to }, true)).toEqual([
    { from: '2026-03-02T08:05', to: '2026-03-02T09:00', by: 'minute' },
    { from: '2026-03-02T09:00', by: 'hour' },
  ]);
  expect(partsOf({ from: to, to }, true)).toEqual([{ from: to, by: 'minute' }]);
  expect([stepOf({ from, to }), stepOf({ from: '2026-02-20T00:00', to })]).toEqual(['hour', 'day']);
});

test('a push waits for minutes at most: its time, and a minute until it is ended', () => {
  expect(minutesOfWaiting({ pushTimeout: 10_000, batchTimeout: 30_000 })).toBe(2);
  expect(minutesOfWaiting({ pushTimeout: 120_000, batchTimeout: 100 })).toBe(4);
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
    timeZone: ZONE,
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

  test('has its bars where the clock on the wall has hours and days, whatever begins between them', () => {
    const part = (from: string, to: string, pushes: number, complete = true): Stats => ({
      ...{ from, to, by: 'minute', complete, timeZone: 'Europe/Berlin' },
      total: { pushes, succeeded: pushes, failed: 0 },
      rows: [counted(from, pushes, 'CREATED', null)],
    });
    const hours = [
      part('2026-03-01T07:05:00Z', '2026-03-01T08:00:00Z', 1),
      part('2026-03-01T08:00:00Z', '2026-03-01T10:00:00Z', 2),
      part('2026-03-01T10:00:00Z', '2026-03-01T10:20:00Z', 4),
    ];
    const all = joined(hours, 'hour');
    expect(all).toMatchObject({ complete: true, total: { pushes: 7, succeeded: 7, failed: 0 } });
    expect(barsOf(all).map(({ written }) => written)).toEqual([1, 2, 0, 4]);
    expect(new Date(barsOf(all)[0]?.start ?? 0).toISOString()).toBe('2026-03-01T08:00:00.000Z');
    // Clocks are put back on the second of these days.
    const days = [
      part('2026-10-23T21:30:00Z', '2026-10-23T22:00:00Z', 1),
      part('2026-10-25T22:00:00Z', '2026-10-25T23:00:00Z', 2),
      part('2026-10-25T23:00:00Z', '2026-10-26T23:00:00Z', 4),
    ];
    expect(barsOf(joined(days, 'day')).map(({ written }) => written)).toEqual([1, 0, 2, 4]);
    // Where a part is not whole, what lies before it is not shown.
    const cut = joined([part('2026-03-01T07:05:00Z', '-', 1), part('-', '-', 2, false)], 'hour');
    expect(cut).toMatchObject({ from: '-', complete: false, total: { pushes: 2 } });
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

/** Asks for the overview of a service that answers so. */
async function overviewOf(
  answer: (name: string, body: Record<string, unknown>) => object,
  params: Record<string, string> = {},
) {
  let atOnce = 0;
  let most = 0;
  const fetch = async (url: URL, { body }: RequestInit) => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise(setImmediate);
    atOnce -= 1;
    const question = JSON.parse(Buffer.from(body as Buffer).toString());
    return Response.json({
      code: 0,
      data: answer(String(url.pathname.split('/').pop()), question),
    });
  };
  Object.assign(globalThis, { fetch, location: { href: 'http://h/console' } });
  Object.assign(globalThis, { sessionStorage: new Map() });
  begin({ clientId: 'c', key: 'k' });
  const limits = { pushTimeout: 10_000, batchTimeout: 30_000 } as OwnSelf['limits'];
  const me = { serviceTime: new Date(NOW).toISOString(), limits };
  const windows = windowsOf(params, ZONE, NOW);
  return { ...(await askOverview(windows, me, new AbortController().signal)), most };
}

const NONE = {
  stats: { total: { pushes: 0, succeeded: 0, failed: 0 }, complete: true, rows: [] },
  failures: { rows: [], nextCursor: null },
  query: { count: { value: 0, exact: true } },
};

describe('what was received', () => {
  const custom = { range: 'custom', from: '2026-03-01T08:05', to: '2026-03-01T11:20' };

  test('is of the range that is shown, and of the same minutes of the day before', async () => {
    const asked: string[] = [];
    const { now, before } = await overviewOf((name, body) => {
      if (name !== 'stats') return NONE[name as 'query'];
      asked.push(`${body.from} ${body.by} ${body.to}`);
      const total = { pushes: body.by === 'hour' ? 100 : 1, succeeded: 1, failed: 0 };
      return { ...NONE.stats, total };
    }, custom);
    const partsOfDay = (day: string) => [
      `${day}T08:05 minute ${day}T09:00`,
      `${day}T09:00 hour ${day}T11:00`,
      `${day}T11:00 minute ${day}T11:20`,
    ];
    expect(asked.sort()).toEqual([...partsOfDay('2026-02-28'), ...partsOfDay('2026-03-01')]);
    expect(now.received).toEqual({ value: 102, exact: true });
    expect(before.received).toEqual({ value: 102, exact: true });
  });

  test('is not called all of it where the service could not count it all', async () => {
    const { now } = await overviewOf((name) => {
      return name === 'stats' ? { ...NONE.stats, complete: false } : NONE[name as 'query'];
    });
    expect(now.received).toEqual({ value: 0, exact: false });
    expect(countText(now.received)).not.toMatch(/\d/);
  });
});

describe('what waits', () => {
  const waitingOf = async (perSecond: number) => {
    const spans: number[] = [];
    const { now, before } = await overviewOf(
      (name, { state, from, to }) => {
        if (name !== 'query') return NONE[name as 'query'];
        expect(state).toBe('QUEUED');
        const span = Number(to ?? NOW) - Number(from);
        spans.push(span / 1_000);
        // One waits of those that came in the last second.
        const value = to === undefined ? 1 : 0;
        return { count: { value, exact: (span / 1_000) * perSecond <= 5_000 } };
      },
      { range: 'yesterday' },
    );
    expect(before.waiting).toBeUndefined();
    return { ...now.waiting, spans };
  };

  test('is looked for among the pushes of the last minutes alone, whatever the range', async () => {
    expect(await waitingOf(10)).toEqual({ value: 1, exact: true, spans: [120] });
  });

  test('is counted exactly where more came than one count looks at', async () => {
    const spans = [120, 60, 30, 30, 60, 30, 30];
    expect(await waitingOf(150)).toEqual({ value: 1, exact: true, spans });
  });

  test('is not called exact where still more came, and that comes to an end', async () => {
    const { spans, ...waiting } = await waitingOf(1_000);
    expect([waiting, spans.length]).toEqual([{ value: 1, exact: false }, 15]);
  });
});

describe('what still fails', () => {
  /** So many pages of failures whose matters are mended; behind them one that is not. */
  const askedOf = async (mendedPages: number) => {
    const { now, most } = await overviewOf((name, { cursor = 0, from }) => {
      if (name !== 'failures') return NONE[name as 'query'];
      const isLast = Number(cursor) === mendedPages;
      const rows = isLast ? [{ externalId: `OF ${from}` }] : [];
      return { rows, nextCursor: isLast ? null : Number(cursor) + 1 };
    });
    return { ...now.stillFailed, most };
  };

  test('is found behind what was mended, and few questions are asked at a time', async () => {
    expect(await askedOf(3)).toEqual({ value: 1, exact: true, most: 2 });
  });

  test('is not called nothing where not all of it was looked at', async () => {
    const { value, exact } = await askedOf(100);
    expect([value, exact]).toEqual([0, false]);
    expect(countText({ value, exact })).not.toMatch(/\d/);
  });
});
