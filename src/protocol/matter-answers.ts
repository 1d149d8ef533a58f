/** The schemas of `data` in the answers to the queries about matters. */
import { z } from 'zod';
import { type Answer, count, instant, matterId, nextCursor } from './answer-shape';
import { describe } from './language';
import { MATTER, matterAnswer } from './matter-view';

export const gotMatters = z
  .object({
    /** In the order of the request, without duplicates. */
    matters: z
      .array(matterAnswer)
      .meta(describe('Matters, including deleted ones', '含已删除的事项')),
    missing: z
      .array(z.string())
      .meta(describe('Ids without a matter in the ledger', '台账中从未有过的业务主键')),
  })
  .meta(describe('Matters, and the ids without a matter', '事项与缺失的业务主键'));
export type GotMatters = Answer<typeof gotMatters>;

export const changesPage = z
  .object({
    matters: z
      .array(matterAnswer)
      .meta(describe('Matters, including deleted ones', '含已删除的事项')),
    /** Even an empty page can have a next page. */
    nextCursor: nextCursor(),
    examined: count()
      .optional()
      .meta(
        describe(
          'Number of matters that a search examined for the page',
          '仅按条件搜索时返回：本页检查的事项数',
        ),
      ),
    watermark: instant().meta(
      describe(
        'Use as `updatedFrom` of the next incremental query. ISO-8601 in UTC',
        '下一次增量查询的 updatedFrom：ISO-8601，UTC',
      ),
    ),
  })
  .meta(describe('Matters in the order in which they changed', '按变更顺序排列的事项'));
export type ChangesPage = Answer<typeof changesPage>;

export const heldView = z
  .object({
    matterId: matterId().meta(MATTER.matterId),
    bizStatus: z.string().meta(MATTER.bizStatus),
    externalStatusCode: z.string().nullable().meta(MATTER.externalStatusCode),
    sourceUpdatedAt: instant().nullable().meta(MATTER.shownTime),
    deleted: z.boolean().meta(MATTER.deleted),
  })
  .meta(describe('The ledger values of a matter with differences', '有差异的事项在台账中的记录'));
export type HeldView = Answer<typeof heldView>;

/**
 * - MISSING: only the source system has the matter.
 * - DELETED: the matter is deleted only in the ledger.
 * - NOT_DELETED: the matter is deleted only in the source system.
 * - STALE_HERE: `sourceUpdatedAt` is older in the ledger than in the source system.
 * - NEWER_HERE: `sourceUpdatedAt` is newer in the ledger than in the source system.
 * - STATUS_DIFFERS: `bizStatus` or `externalStatusCode` differs.
 */
const difference = z.enum([
  'MISSING',
  'DELETED',
  'NOT_DELETED',
  'STALE_HERE',
  'NEWER_HERE',
  'STATUS_DIFFERS',
]);
export type MatterDifference = Answer<typeof difference>;

export const differingMatter = z
  .object({
    externalId: z.string().meta(MATTER.externalId),
    differences: z
      .array(difference)
      .meta(describe('Every difference of the line', '该行的全部差异')),
    here: heldView
      .nullable()
      .meta(
        describe(
          'The values in the ledger; null: the matter is missing',
          '台账中的记录；null 表示没有',
        ),
      ),
  })
  .meta(describe('A line with differences', '有差异的一行'));

export const matterDiff = z
  .object({
    compared: count().meta(describe('Lines that were compared', '比较的行数')),
    equal: count().meta(describe('Lines without a difference', '一致的行数')),
    differences: z
      .array(differingMatter)
      .meta(describe('Lines with differences, in the order sent', '有差异的行，按发送顺序')),
  })
  .meta(describe('The comparison of all lines', '所有行的比较结果'));
export type MatterDiff = Answer<typeof matterDiff>;

const digest = z.object({
  count: count().meta(describe('Number of matters', '事项数')),
  hash: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .meta(
      describe(
        'For each matter, join externalId, bizStatus, externalStatusCode and sourceUpdatedAt (epoch milliseconds) with line feeds; an absent value is empty. Take the first 8 bytes of the SHA-256 of the joined text. XOR the 8-byte values of all matters. Write the result as 16 hex digits.',
        '每个事项行的 SHA-256 前 8 字节的异或，16 位十六进制。行由 externalId、bizStatus、externalStatusCode、sourceUpdatedAt（毫秒时间戳）以换行符连接，缺失的为空。',
      ),
    ),
});
export type Digest = Answer<typeof digest>;

export const digestBucket = z
  .object({
    bizType: z.string().nullable().meta(MATTER.bizType),
    day: z
      .string()
      .meta({ format: 'date' })
      .nullable()
      .meta(
        describe(
          'yyyy-MM-dd; null: matters without `sourceUpdatedAt`',
          'yyyy-MM-dd；没有 sourceUpdatedAt 时为 null',
        ),
      ),
    ...digest.shape,
  })
  .meta(describe('Matters of one bizType and day', '一个业务类型和日期的统计'));
export type DigestBucket = Answer<typeof digestBucket>;

export const matterDigest = z
  .object({
    timeZone: z.string().meta(describe('Time zone of the days', '日期所用的时区')),
    total: digest.meta(describe('All counted matters', '合计')),
    buckets: z.array(digestBucket).meta(describe('By bizType and day', '按业务类型和日期分组')),
  })
  .meta(describe('Counts and hashes by bizType and day', '按业务类型和日期的数量与哈希'));
export type MatterDigest = Answer<typeof matterDigest>;
