/**
 * `push-logs/failures` lists failed pushes with their reasons, and shows which failures are mended. A later
 * successful push mends a failure: a push of the same matter, a retry, or a resend of the failed push.
 */
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
import { anyInstant, nullIsAbsent } from './fields';
import { describe } from './language';
import { asInEntry } from './log-entry';
import { cursor, oneOrMoreNames, orderedWindow, pageSize, WINDOW } from './query-body';
import { absentMeans } from './schema-rules';
import { fieldError } from './warnings';

/** @param timeZone PORTAL_TIME_ZONE */
export function failuresSchema(timeZone: string) {
  const instant = nullIsAbsent(anyInstant(timeZone)).meta(WINDOW);
  const body = z.object({
    from: instant,
    to: instant,
    reason: oneOrMoreNames.meta(
      describe(
        'One reason or a list of reasons. Absent: all reasons except SIGNATURE_MISMATCH, TIMESTAMP_OUT_OF_WINDOW and NO_USABLE_SECRET',
        '单个原因，或原因列表（满足其一即可）。未传时为除 SIGNATURE_MISMATCH、TIMESTAMP_OUT_OF_WINDOW、NO_USABLE_SECRET 之外的全部原因（这三种任何知道 client_id 的人都能造成）',
      ),
    ),
    stillFailed: nullIsAbsent(z.boolean()).meta({
      ...absentMeans(false),
      ...describe(
        'True: only failures that are not mended; batches rejected as a whole are omitted',
        '为 true 时只返回之后没有成功推送的，不含被整体拒绝的批次',
      ),
    }),
    limit: pageSize(MAX_ROWS).meta(describe('Maximum rows of a page', '每页最多行数')),
    cursor,
  });
  return orderedWindow(body, 'from', 'to').meta(
    describe('A time window and reasons', '时间窗与原因'),
  );
}

const MAX_ROWS = 500;

const totals = {
  pushes: count().meta(describe('Failed pushes', '失败的推送数')),
  matters: count().meta(
    describe(
      'Number of matters with failed pushes. Pushes without a matter count once per idempotency key. Without a key, each push counts',
      '涉及的事项数；没有事项的推送按幂等键计，都没有时各计一个',
    ),
  ),
  stillFailed: count().meta(
    describe(
      'Number of matters whose last failure is not mended. Batches rejected as a whole do not count',
      '其中之后没有成功推送的数量，不含被整体拒绝的批次',
    ),
  ),
};
const failureTotals = z.object(totals);
export type FailureTotals = Answer<typeof failureTotals>;

const times = {
  firstSeen: shownInstant().meta(
    describe('The first failure of the group or row: ISO-8601 in UTC', '最早一次：ISO-8601，UTC'),
  ),
  lastSeen: shownInstant().meta(
    describe('The last failure of the group or row: ISO-8601 in UTC', '最近一次：ISO-8601，UTC'),
  ),
};

export const failureSample = z
  .object({
    requestId: loggedRequestId(),
    externalId: z
      .string()
      .nullable()
      .meta(describe('The matter of the push; null if unknown', '涉及的事项，未知时为 null')),
  })
  .meta(describe('One failed push', '一次失败的推送'));
export type FailureSample = Answer<typeof failureSample>;

export const failureGroup = z
  .object({
    reason: z
      .string()
      .meta(describe('The reason in the answer to the caller', '返回给调用方的原因')),
    field: z
      .string()
      .nullable()
      .meta(
        describe(
          'The field with the problem, for example `parties[].username`; null: no field',
          '有问题的字段，不含列表下标，如 parties[].username；null 表示与字段无关',
        ),
      ),
    ...totals,
    ...times,
    samples: z
      .array(failureSample)
      .meta(describe('The latest failures of the group, at most three', '最近的样本，最多三个')),
  })
  .meta(describe('Failures of one reason and field', '同一原因和字段的失败'));
export type FailureGroup = Answer<typeof failureGroup>;

export const mended = z
  .object({
    requestId: loggedRequestId(),
    at: shownInstant().meta(
      describe('When the mending push was settled: ISO-8601 in UTC', '完成时间：ISO-8601，UTC'),
    ),
    outcome: z
      .string()
      .meta(
        describe(
          'The outcome of the mending push. STALE_IGNORED: the ledger already has newer data',
          '推送结果，含 STALE_IGNORED（台账中已有更新的数据）',
        ),
      ),
  })
  .meta(describe('The push that mended the failure', '之后成功的推送'));
export type Mended = Answer<typeof mended>;

const failureCause = z
  .object({
    requestId: requestId().meta(describe('The earlier upsert that failed', '更早失败的 upsert')),
    reason: z.string().meta(asInEntry('reason')),
    fields: z.array(z.string()).meta(describe('The fields with problems', '有问题的字段')),
    problems: z.array(fieldError).meta(asInEntry('problems')),
  })
  .meta(
    describe(
      'An earlier failed upsert that probably caused the last failure',
      '更早失败的 upsert，很可能导致了最近一次失败',
    ),
  );

export const failedRow = z
  .object({
    requestId: requestId().meta(describe('The last failure', '最近一次失败的请求')),
    clientId: z.string().meta(asInEntry('clientId')),
    operation: z.string().meta(asInEntry('operation')),
    externalId: z
      .string()
      .nullable()
      .meta(describe('The matter; null if unknown', '涉及的事项，未知时为 null')),
    idempotencyKey: z.string().nullable().meta(asInEntry('idempotencyKey')),
    reason: z.string().meta(describe('The reason of the last failure', '最近一次失败的原因')),
    fields: z
      .array(z.string())
      .meta(describe('The fields with problems in the last failure', '有问题的字段')),
    problems: z.array(fieldError).meta(asInEntry('problems')),
    cause: failureCause
      .nullable()
      .meta(
        describe(
          'If `reason` is MATTER_NOT_FOUND: the failed upsert on this page that probably should have created the matter; otherwise null',
          'reason 为 MATTER_NOT_FOUND 时：本应创建该事项的失败 upsert（本页范围内）；否则为 null',
        ),
      ),
    failures: count().meta(
      describe('Number of failed pushes of this row within this page', '本页范围内的失败次数'),
    ),
    refusedBatch: z
      .boolean()
      .meta(
        describe(
          'True: the row is a batch that was rejected as a whole',
          '被整体拒绝的批次，日志无法判断是否已重发',
        ),
      ),
    ...times,
    mended: mended
      .nullable()
      .meta(
        describe(
          'The push that mended the last failure; null: the failure is not mended',
          '之后同一事项（没有事项时为同一幂等键）首次成功的推送；null 表示没有',
        ),
      ),
  })
  .meta(
    describe(
      'The last failure of a matter. Without a matter, the row stands for an idempotency key, a single push or a batch',
      '一个事项（没有事项时为幂等键、推送或批次）及其最近一次失败',
    ),
  );
export type FailedRow = Answer<typeof failedRow>;

/** `data` in the answer to push-logs/failures. */
export const failures = z
  .object({
    totals: failureTotals.meta(
      describe('Totals of the failures within this page', '本页范围内的合计'),
    ),
    groups: z
      .array(failureGroup)
      .meta(
        describe(
          'Failures by reason and field, the largest group first. A push counts for each field with a problem',
          '按原因和字段分组，数量多的在前；涉及多个字段的推送在每个字段中各计一次',
        ),
      ),
    moreGroups: count().meta(
      describe('Number of further groups that are not listed', '未列出的分组数'),
    ),
    rows: z
      .array(failedRow)
      .meta(
        describe(
          'One row for each matter, the latest failure first. Pushes without a matter: one row for each idempotency key or push',
          '每个事项一行（没有事项时按幂等键，都没有时按推送），最近失败的在前',
        ),
      ),
    refusedBatches: count().meta(
      describe(
        'Number of batches rejected as a whole. The filter `stillFailed` does not change this number',
        '被整体拒绝的批次数，不受 stillFailed 影响；这类批次不涉及具体事项，无法判断之后是否补救',
      ),
    ),
    notRecorded: notRecorded(),
    complete: z
      .boolean()
      .meta(
        describe(
          'False: older failures follow; continue with `nextCursor`',
          '为 false 时还有更早的失败，请用 nextCursor 继续',
        ),
      ),
    nextCursor: nextCursor(),
    keptSince: shownInstant().meta(
      describe(
        'The push log contains requests since this time: ISO-8601 in UTC',
        '早于此时间的推送日志已不再保存：ISO-8601，UTC',
      ),
    ),
  })
  .meta(
    describe(
      'Failed pushes by reason and field, and by matter',
      '按原因和字段、按事项列出的失败推送',
    ),
  );
export type Failures = Answer<typeof failures>;
