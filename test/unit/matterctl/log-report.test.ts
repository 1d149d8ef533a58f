/** The report: its windows, what it makes of the answers of the service, and its formats. */

import { ALL_REASONS } from '../../../src/protocol/errors';
import type { FailedRow } from '../../../src/protocol/failures';
import {
  noReportLines,
  type ReportFormat,
  reportLines,
} from '../../../tools/matterctl/report/formats';
import { type PushReport, readReport } from '../../../tools/matterctl/report/read-report';
import {
  checkWindow,
  countedParts,
  type ReportWindow,
  windowBefore,
  windowIn,
} from '../../../tools/matterctl/report/windows';

const ZONE = 'Asia/Shanghai';
const windowOf = (from: string, to: string): ReportWindow => ({
  from: Date.parse(from),
  to: Date.parse(to),
});
const texts = ({ from, to }: ReportWindow) =>
  [from, to].map((at) => new Date(at).toISOString().replace(':00.000Z', ''));

describe('the window before', () => {
  test.each([
    [
      'a day',
      ZONE,
      '2026-05-02T00:00+08:00',
      '2026-05-03T00:00+08:00',
      '2026-04-30T16:00',
      '2026-05-01T16:00',
    ],
    [
      'an hour',
      ZONE,
      '2026-05-02T09:00Z',
      '2026-05-02T10:00Z',
      '2026-05-01T09:00',
      '2026-05-01T10:00',
    ],
    [
      'a day and eight hours',
      ZONE,
      '2026-05-02T00:00Z',
      '2026-05-03T08:00Z',
      '2026-04-30T00:00',
      '2026-05-01T08:00',
    ],
    [
      'a day of 25 hours',
      'Europe/Berlin',
      '2026-10-24T22:00Z',
      '2026-10-25T23:00Z',
      '2026-10-23T22:00',
      '2026-10-24T22:00',
    ],
  ])('of %s', (_, zone, from, to, ...before) => {
    expect(texts(windowBefore(windowOf(from, to), zone))).toEqual(before);
  });
});

test('only whole hours are counted by hour', () => {
  const parts = (from: string, to: string, zone = ZONE) =>
    countedParts(windowOf(from, to), zone).map((part) => [part.by, ...texts(part)].join(' '));
  expect(parts('2026-05-01T00:00Z', '2026-05-02T00:00Z')).toEqual([
    'hour 2026-05-01T00:00 2026-05-02T00:00',
  ]);
  expect(parts('2026-05-01T00:10Z', '2026-05-01T02:20Z')).toEqual([
    'minute 2026-05-01T00:10 2026-05-01T01:00',
    'hour 2026-05-01T01:00 2026-05-01T02:00',
    'minute 2026-05-01T02:00 2026-05-01T02:20',
  ]);
  expect(parts('2026-05-01T00:10Z', '2026-05-01T01:10Z')).toEqual([
    'minute 2026-05-01T00:10 2026-05-01T01:10',
  ]);
  expect(parts('2026-05-01T00:30Z', '2026-05-01T02:30Z', 'Asia/Kolkata')).toEqual([
    'hour 2026-05-01T00:30 2026-05-01T02:30',
  ]);
});

test('a window that is empty or too long is wrong usage', () => {
  expect(() => checkWindow(windowOf('2026-05-01T00:00Z', '2026-05-01T00:00Z'))).toThrow('no time');
  expect(() => checkWindow(windowOf('2026-05-01T00:00Z', '2026-06-02T00:00Z'))).toThrow('31 days');
});

const row = (externalId: string | null, reason: string, minute: string, more = {}): FailedRow => ({
  ...{ requestId: `id-${minute}`, clientId: 'oa', operation: 'upsert', externalId, reason },
  ...{
    idempotencyKey: null,
    fields: [],
    problems: [],
    cause: null,
    failures: 1,
    refusedBatch: false,
    mended: null,
  },
  firstSeen: `2026-05-01T00:${minute}:00.000Z`,
  lastSeen: `2026-05-01T00:${minute}:00.000Z`,
  ...more,
});
const DAY = windowOf('2026-04-30T16:00Z', '2026-05-01T16:00Z');

/** Numbers of pushes in a part of the window, by reason. */
type Counted = Readonly<Record<string, number>>;

/** A report of the pages of failures; in the time before there is one failure. */
async function reportOf(
  pages: readonly (readonly FailedRow[])[],
  {
    isEndless = false,
    counted = {},
    complete = true,
  }: {
    readonly isEndless?: boolean;
    readonly counted?: Counted;
    readonly complete?: boolean;
  } = {},
) {
  const asked: (readonly [string, Record<string, unknown>])[] = [];
  const query = async (name: string, body: object) => {
    const question = body as Record<string, unknown>;
    asked.push([name, question]);
    const isBefore = String(question.to) <= new Date(DAY.from).toISOString();
    if (name === 'push-logs/stats') {
      const total = isBefore
        ? { pushes: 1_000, succeeded: 999, failed: 1 }
        : { pushes: 2_000, succeeded: 1_990, failed: 10 };
      const entries = isBefore ? [] : Object.entries(counted);
      const rows = entries.map(([reason, pushes]) => ({ reason, pushes }));
      return { total, rows, complete: isBefore || complete };
    }
    const at = Number(question.cursor ?? 0);
    const rows = isBefore ? [row('B', 'UNKNOWN_USER', '01')] : (pages[at] ?? []);
    const isMore = !isBefore && (isEndless || at + 1 < pages.length);
    return { rows, refusedBatches: at, notRecorded: 3, nextCursor: isMore ? `${at + 1}` : null };
  };
  const subject = { window: DAY, systemCode: 'OA', timeZone: ZONE, publicUrl: 'https://p.example' };
  const client = { query } as unknown as Parameters<typeof readReport>[0];
  return { report: await readReport(client, subject), asked };
}

test('failures of all pages are counted by matter, with the oldest of each reason', async () => {
  const { report, asked } = await reportOf([
    [row('A', 'UNKNOWN_USER', '30', { failures: 2 }), row('C', 'VALIDATION_FAILED', '29')],
    [
      row('A', 'VALIDATION_FAILED', '20'),
      row('D', 'UNKNOWN_USER', '25'),
      row(null, 'INVALID_JSON', '05'),
      row(null, 'INVALID_JSON', '04'),
    ],
  ]);
  expect(report).toMatchObject({
    ...{ from: '2026-04-30T16:00:00.000Z', to: '2026-05-01T16:00:00.000Z' },
    ...{ received: 2_000, written: 1_990, failed: 10, open: 5, complete: true },
    ...{ refusedBatches: 1, notRecorded: 3 },
    before: { from: '2026-04-29T16:00:00.000Z', received: 1_000, written: 999, failed: 1, open: 1 },
  });
  expect(report.reasons).toEqual([
    {
      reason: 'INVALID_JSON',
      matters: 2,
      pushes: 2,
      oldest: '2026-05-01T00:04:00.000Z',
      requestId: 'id-04',
    },
    {
      reason: 'UNKNOWN_USER',
      matters: 2,
      pushes: 4,
      oldest: '2026-05-01T00:20:00.000Z',
      requestId: 'id-30',
    },
    {
      reason: 'VALIDATION_FAILED',
      matters: 1,
      pushes: 1,
      oldest: '2026-05-01T00:29:00.000Z',
      requestId: 'id-29',
    },
  ]);
  expect(report.link).toBe(
    'https://p.example/console#/failures?range=custom&from=2026-05-01T00%3A00%3A00&to=2026-05-02T00%3A00%3A00',
  );
  const failures = asked.filter(([name]) => name === 'push-logs/failures');
  expect(failures.map(([, { cursor, stillFailed }]) => [cursor, stillFailed])).toEqual([
    [null, true],
    ['1', true],
    [null, true],
  ]);
});

test('more pages than a report reads make its numbers minimums', async () => {
  const { report, asked } = await reportOf([[row('A', 'UNKNOWN_USER', '30')]], {
    isEndless: true,
  });
  expect(report).toMatchObject({ open: 1, complete: false, before: { complete: true } });
  expect(asked.length).toBeLessThan(30);
  const lines = reportLines(report, { format: 'text', language: 'en' });
  expect(lines).toContain('matters with an open failure: at least 1 (before: 1)');
});

test('pushes without a valid signature are counted by reason, and come first', async () => {
  const counted = { SIGNATURE_MISMATCH: 1_200, UNKNOWN_USER: 3, NO_USABLE_SECRET: 2_000 };
  const { report } = await reportOf([], { counted });
  expect(report).toMatchObject({ open: 0, unauthenticated: 3_200, before: { unauthenticated: 0 } });
  expect(report.unauthenticatedReasons).toEqual([
    { reason: 'NO_USABLE_SECRET', pushes: 2_000 },
    { reason: 'SIGNATURE_MISMATCH', pushes: 1_200 },
  ]);
  const [, ...lines] = reportLines(report, { format: 'text', language: 'en' });
  expect(lines.slice(0, 4)).toEqual([
    'ATTENTION: rejected pushes, not among the open failures: NO_USABLE_SECRET (the client has no usable client_secret): 2,000',
    'ATTENTION: rejected pushes, not among the open failures: SIGNATURE_MISMATCH (the HMAC signature does not match): 1,200',
    expect.stringContaining('matterctl doctor'),
    expect.stringMatching(/^from /),
  ]);
  const [, chinese] = reportLines(report, { format: 'text', language: 'zh' });
  expect(chinese).toMatch(/^【注意】.*NO_USABLE_SECRET（Client 无可用 client_secret）：2,000$/);
});

test('a count that was cut off comes first', async () => {
  const { report } = await reportOf([], { complete: false });
  expect(report).toMatchObject({ open: 0, complete: false });
  const [, first] = reportLines(report, { format: 'text', language: 'en' });
  expect(first).toMatch(/^ATTENTION: the service could not count all pushes/);
});

test('24 hours before now are compared with the 24 hours before them', () => {
  const DAY_LONG = 86_400_000;
  let now = Date.parse('2026-05-02T08:00+08:00');
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now++);
  const window = windowIn(ZONE, { since: () => Date.now() - DAY_LONG });
  clock.mockRestore();
  expect(texts({ ...window, to: window.from })[0]).toContain('2026-05-01T00:00');
  expect(windowBefore(window, ZONE).from).toBe(window.from - DAY_LONG);
});

test('why there is no report is a message of each form, without marks of the form', () => {
  const why = { clientId: 'oa', cause: '<html> [a](b) 401 NO_KEY', publicUrl: 'https://p.example' };
  const lines = (format: ReportFormat, language: 'zh' | 'en') =>
    noReportLines(why, { format, language }).join('\n');
  expect(lines('text', 'en')).toBe(
    [
      'Matter Push report: could not be made',
      'the report of oa could not be made:  html   a (b) 401 NO_KEY',
      'open the console: https://p.example/console',
    ].join('\n'),
  );
  expect(JSON.parse(lines('json', 'en'))).toEqual({ clientId: 'oa', error: why.cause });
  expect(JSON.parse(lines('wecom', 'zh')).markdown.content).toContain('Client oa 的报告未能生成：');
  expect(JSON.parse(lines('dingtalk', 'zh')).markdown.title).toBe('Matter Push 推送报告未能生成');
  expect(JSON.parse(lines('feishu', 'en')).content.post.en_us.content).toHaveLength(2);
});

async function linesOf(
  format: ReportFormat,
  language: 'zh' | 'en',
  change: Partial<PushReport> = {},
) {
  const { report } = await reportOf([[row('A', 'UNKNOWN_USER', '30', { failures: 2 })]]);
  return reportLines({ ...report, refusedBatches: 1, ...change }, { format, language });
}
const ENGLISH = [
  'Matter Push report for OA',
  'from 2026-05-01 00:00:00 (Asia/Shanghai) to 2026-05-02 00:00:00 (Asia/Shanghai)',
  'compared with 2026-04-30 00:00:00 (Asia/Shanghai) to 2026-05-01 00:00:00 (Asia/Shanghai)',
  'received: 2,000 (before: 1,000)',
  'written: 1,990 (before: 999)',
  'failed: 10 (before: 1)',
  'matters with an open failure: 1 (before: 1)',
  '- UNKNOWN_USER (a user does not exist or is disabled): matters 1, pushes 2, oldest 2026-05-01 08:30:00 (Asia/Shanghai), request id-30',
  'batches rejected as a whole: 1 (the log does not show whether they were sent again)',
  'failed pushes without an entry in the log: 3',
];

test('text is for people, in both languages', async () => {
  const link = expect.stringMatching(/^open the console: https:\/\/p\.example\/console#/);
  expect(await linesOf('text', 'en')).toEqual([...ENGLISH, link]);
  const chinese = await linesOf('text', 'zh');
  expect(chinese).toHaveLength(ENGLISH.length + 1);
  expect(chinese.slice(1, 8).join('\n')).toMatch(
    /^时段[\s\S]*收到：2,000（对比时段 1,000）[\s\S]*- UNKNOWN_USER（/,
  );
});

test('json is the report', async () => {
  const { report } = await reportOf([]);
  const [line = '', ...others] = reportLines(report, { format: 'json', language: 'en' });
  expect(JSON.parse(line)).toEqual(report);
  expect(others).toEqual([]);
});

test('each robot gets a message of its form', async () => {
  const url = (await reportOf([])).report.link;
  const message = async (format: ReportFormat) =>
    JSON.parse((await linesOf(format, 'en')).join('\n'));
  const [title, ...lines] = ENGLISH;
  const markdown = `[open the console](${url})`;
  expect(await message('wecom')).toEqual({
    msgtype: 'markdown',
    markdown: { content: [`**${title}**`, ...lines, markdown].join('\n') },
  });
  expect(await message('dingtalk')).toEqual({
    msgtype: 'markdown',
    markdown: { title, text: [`### ${title}`, ...lines, markdown].join('\n\n') },
  });
  const texts = lines.map((text) => [{ tag: 'text', text }]);
  const content = [...texts, [{ tag: 'a', text: 'open the console', href: url }]];
  expect(await message('feishu')).toEqual({
    msg_type: 'post',
    content: { post: { en_us: { title, content } } },
  });
});

test.each([
  ['wecom', 4_096],
  ['dingtalk', 20_000],
  ['feishu', 20_000],
] as const)(
  'a message for %s with every reason is not longer than %i bytes',
  async (format, max) => {
    const reasons = ALL_REASONS.map((reason) => ({
      ...{ reason, matters: 10_000, pushes: 1_000_000, oldest: '2026-05-01T00:30:00.000Z' },
      requestId: '6b01a201c4a79446377b7ed1',
    }));
    for (const language of ['zh', 'en'] as const) {
      const unauthenticatedReasons = ALL_REASONS.slice(0, 3).map((reason) => ({
        ...{ reason, pushes: 1_000_000 },
      }));
      const more = { reasons, unauthenticatedReasons, complete: false };
      const [line = ''] = await linesOf(format, language, more);
      const { markdown } = JSON.parse(line);
      const limited = format === 'wecom' ? markdown.content : line;
      expect(Buffer.byteLength(limited)).toBeLessThanOrEqual(max);
      expect(line).toContain(language === 'zh' ? '其他原因' : 'other reasons');
    }
  },
);
