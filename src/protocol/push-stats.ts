/** `push-logs/stats`: numbers and durations of pushes, by time, operation and result. */
import { z } from 'zod';
import { OPERATIONS } from '../domain/operation';
import { type Answer, count, notRecorded, instant as shownInstant } from './answer-shape';
import { anyInstant, nullIsAbsent } from './fields';
import { describe } from './language';
import { asInEntry } from './log-entry';
import { oneOrMoreNames, orderedWindow, WINDOW } from './query-body';
import { absentMeans } from './schema-rules';

export const STATS_BUCKETS = ['minute', 'hour', 'day'] as const;
export type StatsBucket = (typeof STATS_BUCKETS)[number];

const BY = describe(
  'The period that a row covers; days and hours are in the time zone of the portal',
  '统计粒度，按门户时区',
);
const FILTER = describe(
  'A name or a list of names. If the query has both `outcome` and `reason`, a push must match one of the two. REPLAYED: a retry that returned an earlier outcome.',
  '单个名称或名称列表，满足其一即可；outcome 与 reason 同时给出时取并集。REPLAYED 表示返回了首次结果。',
);

/** @param timeZone PORTAL_TIME_ZONE */
export function statsSchema(timeZone: string) {
  const instant = nullIsAbsent(anyInstant(timeZone)).meta(WINDOW);
  const body = z.object({
    from: instant,
    to: instant,
    by: nullIsAbsent(z.enum(STATS_BUCKETS))
      .transform((value) => value ?? 'hour')
      .meta({ ...absentMeans('hour'), ...BY }),
    operation: nullIsAbsent(z.enum(OPERATIONS)).meta(asInEntry('operation')),
    outcome: oneOrMoreNames.meta(FILTER),
    reason: oneOrMoreNames.meta(FILTER),
  });
  return orderedWindow(body, 'from', 'to').meta(
    describe('The pushes to count; `from` must be before `to`', '统计范围；from 必须早于 to'),
  );
}

const percentile = (percent: number) =>
  describe(
    `The ${percent}th percentile of the milliseconds from receipt to answer (±15 %); null: no push`,
    '从收到到响应的毫秒数，误差不超过 15%；没有推送时为 null',
  );
const durations = {
  p50Ms: count().nullable().meta(percentile(50)),
  p95Ms: count().nullable().meta(percentile(95)),
};

export const statsTotal = z
  .object({
    pushes: count().meta(describe('Number of pushes', '推送数')),
    succeeded: count().meta(describe('Pushes answered with code 0', '返回 code 0 的推送数')),
    failed: count().meta(describe('Pushes with a code other than 0', '返回其他 code 的推送数')),
    notRecorded: notRecorded(),
    ...durations,
  })
  .meta(describe('The totals of all rows', '合计'));
export type StatsTotal = Answer<typeof statsTotal>;

export const statsRow = z
  .object({
    start: shownInstant().meta(
      describe('Start of the minute, hour or day: ISO-8601 in UTC', '时段的起点：ISO-8601，UTC'),
    ),
    operation: z.string().meta(asInEntry('operation')),
    outcome: z
      .string()
      .nullable()
      .meta(
        describe(
          'The outcome. REPLAYED: retries that returned an earlier outcome. Null: the pushes failed',
          'REPLAYED 表示返回了首次结果；失败时为 null',
        ),
      ),
    reason: z
      .string()
      .nullable()
      .meta(describe('Why the pushes failed; null: success', '失败原因；成功时为 null')),
    pushes: count().meta(describe('Number of pushes', '推送数')),
    notRecorded: notRecorded(),
    ...durations,
  })
  .meta(
    describe(
      'Pushes of one period, operation, and outcome or reason',
      '一个时段、操作、结果或原因的统计',
    ),
  );
export type StatsRow = Answer<typeof statsRow>;

export const pushStats = z
  .object({
    timeZone: z.string().meta(describe('The time zone of days and hours', '日期所用的时区')),
    by: z.enum(STATS_BUCKETS).meta(BY),
    /** The window from `from` to `to` consists of whole minutes, hours or days, depending on `by`. */
    from: shownInstant().meta(
      describe('The start of the counted window: ISO-8601 in UTC', '统计窗口的起点：ISO-8601，UTC'),
    ),
    to: shownInstant().meta(
      describe('The end of the counted window: ISO-8601 in UTC', '统计窗口的终点：ISO-8601，UTC'),
    ),
    total: statsTotal.meta(describe('The totals of all rows', '合计')),
    rows: z
      .array(statsRow)
      .meta(
        describe(
          'Ordered by time; rows without pushes are omitted',
          '按时间顺序；没有推送的组合不返回',
        ),
      ),
    complete: z
      .boolean()
      .meta(
        describe(
          'False: the requested window has too many pushes. Then `from` of the answer is later than the requested `from`, and the counts omit the earlier pushes',
          '为 false 时数据过多，只统计了 from 之后的部分',
        ),
      ),
  })
  .meta(describe('Numbers and durations of pushes', '推送的结果数量与耗时'));
export type PushStats = Answer<typeof pushStats>;
