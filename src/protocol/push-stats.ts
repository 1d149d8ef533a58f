/** `push-logs/stats`: how many pushes ended how, when, and how long they took. */
import { z } from 'zod';
import { OPERATIONS } from '../domain/operation';
import { type Answer, count, notRecorded, instant as shownInstant } from './answer-shape';
import { about } from './bilingual';
import { anyInstant, nullIsAbsent } from './fields';
import { absentMeans } from './json-schema';
import { asInEntry } from './log-entry';
import { oneOrMoreWords, orderedWindow, WINDOW } from './query-body';

export const STATS_BUCKETS = ['minute', 'hour', 'day'] as const;
export type StatsBucket = (typeof STATS_BUCKETS)[number];

const BY = about('Length of the rows, in the time zone of the portal', '统计粒度，按门户时区');
const FILTER = about(
  'One name, or several of which one must hold; those of the other of the two count too. REPLAYED: an earlier outcome was repeated.',
  '单个名称或名称列表，满足其一即可；outcome 与 reason 同时给出时取并集。REPLAYED 表示返回了首次结果。',
);

/** @param timeZone zone in which local date-times are read (PORTAL_TIME_ZONE) */
export function statsSchema(timeZone: string) {
  const instant = nullIsAbsent(anyInstant(timeZone)).meta(WINDOW);
  const body = z.object({
    from: instant,
    to: instant,
    by: nullIsAbsent(z.enum(STATS_BUCKETS))
      .transform((value) => value ?? 'hour')
      .meta({ ...absentMeans('hour'), ...BY }),
    operation: nullIsAbsent(z.enum(OPERATIONS)).meta(asInEntry('operation')),
    outcome: oneOrMoreWords.meta(FILTER),
    reason: oneOrMoreWords.meta(FILTER),
  });
  return orderedWindow(body, 'from', 'to').meta(
    about('What to count; `from` must lie before `to`', '统计范围；from 必须早于 to'),
  );
}

const PERCENTILE = about(
  'Milliseconds from receipt to answer, to within 15 %; null: there were none',
  '从收到到响应的毫秒数，误差不超过 15%；没有推送时为 null',
);
const times = {
  p50Ms: count().nullable().meta(PERCENTILE),
  p95Ms: count().nullable().meta(PERCENTILE),
};

export const statsTotal = z
  .object({
    pushes: count().meta(about('Pushes', '推送数')),
    succeeded: count().meta(about('Answered with code 0', '返回 code 0 的推送数')),
    failed: count().meta(about('Answered with another code', '返回其他 code 的推送数')),
    notRecorded: notRecorded(),
    ...times,
  })
  .meta(about('Of all rows', '合计'));
export type StatsTotal = Answer<typeof statsTotal>;

export const statsRow = z
  .object({
    start: shownInstant().meta(
      about('Where its time begins: ISO-8601 in UTC', '时段的起点：ISO-8601，UTC'),
    ),
    operation: z.string().meta(asInEntry('operation')),
    outcome: z
      .string()
      .nullable()
      .meta(
        about(
          'REPLAYED: an earlier outcome was repeated; null: they failed',
          'REPLAYED 表示返回了首次结果；失败时为 null',
        ),
      ),
    reason: z
      .string()
      .nullable()
      .meta(about('Why they failed; null: they did not', '失败原因；成功时为 null')),
    pushes: count().meta(about('Pushes', '推送数')),
    notRecorded: notRecorded(),
    ...times,
  })
  .meta(about('Of one time, operation and outcome or reason', '一个时段、操作、结果或原因的统计'));
export type StatsRow = Answer<typeof statsRow>;

/** `data` of push-logs/stats. */
export const pushStats = z
  .object({
    timeZone: z.string().meta(about('Time zone of the days', '日期所用的时区')),
    by: z.enum(STATS_BUCKETS).meta(BY),
    /** Whole minutes, hours or days. */
    from: shownInstant().meta(
      about('Where the counted window begins: ISO-8601 in UTC', '统计窗口的起点：ISO-8601，UTC'),
    ),
    to: shownInstant().meta(
      about('Where it ends: ISO-8601 in UTC', '统计窗口的终点：ISO-8601，UTC'),
    ),
    total: statsTotal.meta(about('Of everything', '合计')),
    rows: z
      .array(statsRow)
      .meta(
        about(
          'In the order of time; what did not happen has no row',
          '按时间顺序；没有发生的不返回',
        ),
      ),
    complete: z
      .boolean()
      .meta(
        about(
          'False: there was too much to count; `from` is where the counted part begins',
          '为 false 时数据过多，只统计了 from 之后的部分',
        ),
      ),
  })
  .meta(about('How many pushes ended how, and how long they took', '推送的结果数量与耗时'));
export type PushStats = Answer<typeof pushStats>;
