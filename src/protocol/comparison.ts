/** What the queries about matters answer with. */
import { z } from 'zod';
import { type Answer, count, instant, matterId, nextCursor } from './answer-shape';
import { about } from './bilingual';
import { MATTER } from './matter-texts';
import { matterView } from './matter-view';

export const gotMatters = z
  .object({
    /** In the order asked; what was asked twice stands once. */
    matters: z.array(matterView).meta(about('Deleted ones too', '含已删除的事项')),
    missing: z
      .array(z.string())
      .meta(about('Ids that the ledger never had', '台账中从未有过的业务主键')),
  })
  .meta(about('Matters, and what is not there', '事项与缺失的业务主键'));
export type GotMatters = Answer<typeof gotMatters>;

export const changesPage = z
  .object({
    matters: z.array(matterView).meta(about('Deleted ones too', '含已删除的事项')),
    /** A page may be short, or empty, and not be the last. */
    nextCursor: nextCursor(),
    watermark: instant().meta(
      about(
        '`updatedFrom` of the next incremental query: ISO-8601 in UTC',
        '下一次增量查询的 updatedFrom：ISO-8601，UTC',
      ),
    ),
  })
  .meta(about('Matters in the order in which they changed', '按变更顺序排列的事项'));
export type ChangesPage = Answer<typeof changesPage>;

/** What the ledger has. */
export const heldView = z
  .object({
    matterId: matterId().meta(MATTER.matterId),
    bizStatus: z.string().meta(MATTER.bizStatus),
    externalStatusCode: z.string().nullable().meta(MATTER.externalStatusCode),
    sourceUpdatedAt: instant().nullable().meta(MATTER.shownTime),
    deleted: z.boolean().meta(MATTER.deleted),
  })
  .meta(about('What the ledger has of a matter that differs', '有差异的事项在台账中的记录'));
export type HeldView = Answer<typeof heldView>;

/**
 * MISSING: not here. DELETED: deleted here only. NOT_DELETED: deleted there only. STALE_HERE: our
 * `sourceUpdatedAt` is older. NEWER_HERE: ours is newer. STATUS_DIFFERS: `bizStatus` or
 * `externalStatusCode` is another one.
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
    differences: z.array(difference).meta(about('Every difference of the line', '该行的全部差异')),
    here: heldView
      .nullable()
      .meta(about('What the ledger has; null: nothing', '台账中的记录；null 表示没有')),
  })
  .meta(about('A line that differs', '有差异的一行'));

export const matterDiff = z
  .object({
    compared: count().meta(about('Lines that were compared', '比较的行数')),
    equal: count().meta(about('Lines without a difference', '一致的行数')),
    differences: z
      .array(differingMatter)
      .meta(about('Lines that differ, in the order sent', '有差异的行，按发送顺序')),
  })
  .meta(about('Lines that differ, in the order sent', '有差异的行，按发送顺序'));
export type MatterDiff = Answer<typeof matterDiff>;

const digest = z.object({
  count: count().meta(about('Matters', '事项数')),
  hash: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .meta(
      about(
        'XOR of the first 8 bytes of the SHA-256 of the line of each matter, 16 hex digits. The line: externalId, bizStatus, externalStatusCode and sourceUpdatedAt as epoch milliseconds, with line feeds between them; what is absent is empty.',
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
        about(
          'yyyy-MM-dd; null: without `sourceUpdatedAt`',
          'yyyy-MM-dd；没有 sourceUpdatedAt 时为 null',
        ),
      ),
    ...digest.shape,
  })
  .meta(about('Of one bizType and day', '一个业务类型和日期的统计'));
export type DigestBucket = Answer<typeof digestBucket>;

export const matterDigest = z
  .object({
    timeZone: z.string().meta(about('Time zone of the days', '日期所用的时区')),
    total: digest.meta(about('Of everything', '合计')),
    buckets: z.array(digestBucket).meta(about('By bizType and day', '按业务类型和日期分组')),
  })
  .meta(about('Counts and hashes by bizType and day', '按业务类型和日期的数量与哈希'));
export type MatterDigest = Answer<typeof matterDigest>;
