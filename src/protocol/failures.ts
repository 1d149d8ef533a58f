/** `push-logs/failures`: which pushes failed, why, and whether they are mended. */
import { z } from 'zod';
import {
  type Answer,
  count,
  loggedRequestId,
  nextCursor,
  notRecorded,
  requestId,
  instant as shownInstant,
} from './answer-shape';
import { about } from './bilingual';
import { anyInstant, nullIsAbsent } from './fields';
import { absentMeans } from './json-schema';
import { asInEntry } from './log-entry';
import { cursor, oneOrMoreWords, orderedWindow, pageSize, WINDOW } from './query-body';

/** @param timeZone zone in which local date-times are read (PORTAL_TIME_ZONE) */
export function failuresSchema(timeZone: string) {
  const instant = nullIsAbsent(anyInstant(timeZone)).meta(WINDOW);
  const body = z.object({
    from: instant,
    to: instant,
    reason: oneOrMoreWords.meta(
      about(
        'One reason, or a list of which one must hold. Absent: all but those that anybody who knows a client id can cause: SIGNATURE_MISMATCH, TIMESTAMP_OUT_OF_WINDOW, NO_USABLE_SECRET',
        '单个原因，或原因列表（满足其一即可）。未传时为除 SIGNATURE_MISMATCH、TIMESTAMP_OUT_OF_WINDOW、NO_USABLE_SECRET 之外的全部原因（这三种任何知道 client_id 的人都能造成）',
      ),
    ),
    stillFailed: nullIsAbsent(z.boolean()).meta({
      ...absentMeans(false),
      ...about(
        'True: only what no later push has mended, and no batches rejected as a whole',
        '为 true 时只返回之后没有成功推送的，不含被整体拒绝的批次',
      ),
    }),
    limit: pageSize(MAX_ROWS).meta(about('Most rows of a page', '每页最多行数')),
    cursor,
  });
  return orderedWindow(body, 'from', 'to').meta(about('A window and reasons', '时间窗与原因'));
}

const MAX_ROWS = 500;

const totals = {
  pushes: count().meta(about('Failed pushes', '失败的推送数')),
  matters: count().meta(
    about(
      'Their matters; a push without one counts by its key, or alone',
      '涉及的事项数；没有事项的推送按幂等键计，都没有时各计一个',
    ),
  ),
  stillFailed: count().meta(
    about(
      'Those that no later push has mended; batches rejected as a whole are not among them',
      '其中之后没有成功推送的数量，不含被整体拒绝的批次',
    ),
  ),
};
const failureTotals = z.object(totals);
export type FailureTotals = Answer<typeof failureTotals>;

const times = {
  firstSeen: shownInstant().meta(
    about('The first one looked at: ISO-8601 in UTC', '最早一次：ISO-8601，UTC'),
  ),
  lastSeen: shownInstant().meta(about('The last one: ISO-8601 in UTC', '最近一次：ISO-8601，UTC')),
};

export const failureSample = z
  .object({
    requestId: loggedRequestId(),
    externalId: z
      .string()
      .nullable()
      .meta(about('Its matter, as far as known', '涉及的事项，未知时为 null')),
  })
  .meta(about('One failed push', '一次失败的推送'));
export type FailureSample = Answer<typeof failureSample>;

export const failureGroup = z
  .object({
    reason: z.string().meta(about('What its caller was told', '返回给调用方的原因')),
    field: z
      .string()
      .nullable()
      .meta(
        about(
          'Of the problem, without places in lists: `parties[].username`; null: of no field',
          '有问题的字段，不含列表下标，如 parties[].username；null 表示与字段无关',
        ),
      ),
    ...totals,
    ...times,
    samples: z
      .array(failureSample)
      .meta(about('The newest ones, three at most', '最近的样本，最多三个')),
  })
  .meta(about('Failures of one reason and field', '同一原因和字段的失败'));
export type FailureGroup = Answer<typeof failureGroup>;

export const mended = z
  .object({
    requestId: loggedRequestId(),
    at: shownInstant().meta(
      about('When it was settled: ISO-8601 in UTC', '完成时间：ISO-8601，UTC'),
    ),
    outcome: z
      .string()
      .meta(
        about(
          'STALE_IGNORED too: the ledger has something newer',
          '推送结果，含 STALE_IGNORED（台账中已有更新的数据）',
        ),
      ),
  })
  .meta(about('The push that mended it', '之后成功的推送'));
export type Mended = Answer<typeof mended>;

/** A matter (or a key, or a push that has neither) with its last failure. */
export const failedRow = z
  .object({
    requestId: requestId().meta(about('The last failure', '最近一次失败的请求')),
    clientId: z.string().meta(asInEntry('clientId')),
    operation: z.string().meta(asInEntry('operation')),
    externalId: z
      .string()
      .nullable()
      .meta(about('The matter, as far as known', '涉及的事项，未知时为 null')),
    idempotencyKey: z.string().nullable().meta(asInEntry('idempotencyKey')),
    reason: z.string().meta(about('Of the last failure', '最近一次失败的原因')),
    fields: z.array(z.string()).meta(about('Of its problems', '有问题的字段')),
    failures: count().meta(about('Failed pushes of it in this page', '本页范围内的失败次数')),
    refusedBatch: z
      .boolean()
      .meta(
        about(
          'A batch rejected as a whole: the log cannot tell whether it was sent again',
          '被整体拒绝的批次，日志无法判断是否已重发',
        ),
      ),
    ...times,
    mended: mended
      .nullable()
      .meta(
        about(
          'The first push after it that was accepted, of the same matter, else of the same key; null: none',
          '之后同一事项（没有事项时为同一幂等键）首次成功的推送；null 表示没有',
        ),
      ),
  })
  .meta(about('A matter with its last failure', '一个事项及其最近一次失败'));
export type FailedRow = Answer<typeof failedRow>;

/** `data` of push-logs/failures. */
export const failures = z
  .object({
    totals: failureTotals.meta(about('Of what this page looked at', '本页范围内的合计')),
    groups: z
      .array(failureGroup)
      .meta(
        about(
          'By reason and field, the largest first; a push with several fields is counted with each',
          '按原因和字段分组，数量多的在前；涉及多个字段的推送在每个字段中各计一次',
        ),
      ),
    moreGroups: count().meta(about('Groups that there are besides', '未列出的分组数')),
    rows: z
      .array(failedRow)
      .meta(
        about(
          'One for each matter, else key, else push; the last failed first',
          '每个事项一行（没有事项时按幂等键，都没有时按推送），最近失败的在前',
        ),
      ),
    refusedBatches: count().meta(
      about(
        'Batches rejected as a whole, with or without `stillFailed`: they name no matter, so nothing that came later can be seen to mend them',
        '被整体拒绝的批次数，不受 stillFailed 影响；这类批次不涉及具体事项，无法判断之后是否补救',
      ),
    ),
    notRecorded: notRecorded(),
    /** The same as no `nextCursor`. */
    complete: z
      .boolean()
      .meta(
        about(
          'False: there are older failures; go on with `nextCursor`',
          '为 false 时还有更早的失败，请用 nextCursor 继续',
        ),
      ),
    nextCursor: nextCursor(),
    keptSince: shownInstant().meta(
      about(
        'What was received before it is not in the log any more: ISO-8601 in UTC',
        '早于此时间的推送日志已不再保存：ISO-8601，UTC',
      ),
    ),
  })
  .meta(
    about('Failed pushes by reason and field, and by matter', '按原因和字段、按事项列出的失败推送'),
  );
export type Failures = Answer<typeof failures>;
