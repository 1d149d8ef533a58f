/** What the fields of the queries about matters mean (docs/reconcile.md). */
import type { Bilingual } from '../../protocol/bilingual';

const INSTANT: Bilingual = [
  'In any form that `sourceUpdatedAt` takes; the window includes its beginning and excludes its end',
  '与 sourceUpdatedAt 相同的任一时间格式；时间窗含起点、不含终点',
];
const DAY: Bilingual = [
  'A day of `sourceUpdatedAt` in the time zone of the portal, inclusive',
  'sourceUpdatedAt 所在的日期（门户时区），含当天',
];

export const COMPARISON_DESCRIPTIONS: Readonly<Record<string, Bilingual>> = {
  externalIds: ['The matters that are asked for', '要查询的业务主键'],
  updatedFrom: INSTANT,
  updatedTo: INSTANT,
  limit: ['Rows of a page', '每页条数'],
  cursor: [
    '`nextCursor` of the page before, with everything else unchanged',
    '上一页返回的 nextCursor，其他条件保持不变',
  ],
  nextCursor: [
    'Where the next page begins; null: this was the last one',
    '下一页的游标；null 表示最后一页',
  ],
  lines: [
    'What the caller expects; no id twice. What is absent is not compared.',
    '来源系统的记录，业务主键不能重复。未传的字段不比较。',
  ],
  'DiffBody.bizStatus': ['Expected; compared where it is given', '来源系统的办理状态'],
  'DiffBody.externalStatusCode': [
    'Expected; null or empty: none',
    '来源系统的原始状态码；null 或空表示没有',
  ],
  'DiffBody.sourceUpdatedAt': ['Expected; null: none', '来源系统的最后更新时间；null 表示没有'],
  'DiffBody.deleted': ['Expected', '来源系统中是否已删除'],
  'DigestBody.bizType': ['Only matters of this type', '只统计该业务类型'],
  'MattersQueryBody.bizType': ['Only matters of this type', '只返回该业务类型'],
  fromDay: DAY,
  toDay: DAY,
  'DigestBody.open': ['True: without the concluded ones', '为 true 时不含已办结的事项'],
  matters: ['Deleted ones too', '含已删除的事项'],
  missing: ['Ids that the ledger never had', '台账中从未有过的业务主键'],
  watermark: [
    '`updatedFrom` of the next incremental query: ISO-8601 in UTC',
    '下一次增量查询的 updatedFrom：ISO-8601，UTC',
  ],
  compared: ['Lines that were compared', '比较的行数'],
  equal: ['Lines without a difference', '一致的行数'],
  'MatterDiff.differences': ['Lines that differ, in the order sent', '有差异的行，按发送顺序'],
  'MatterDifference.differences': ['Every difference of the line', '该行的全部差异'],
  here: ['What the ledger has; null: nothing', '台账中的记录；null 表示没有'],
  timeZone: ['Time zone of the days', '日期所用的时区'],
  total: ['Of everything', '合计'],
  buckets: ['By bizType and day', '按业务类型和日期分组'],
  day: [
    'yyyy-MM-dd; null: without `sourceUpdatedAt`',
    'yyyy-MM-dd；没有 sourceUpdatedAt 时为 null',
  ],
  'MatterDigest.count': ['Matters', '事项数'],
  'DigestBucket.count': ['Matters', '事项数'],
  hash: [
    'XOR of the first 8 bytes of the SHA-256 of the line of each matter, 16 hex digits. The line: externalId, bizStatus, externalStatusCode and sourceUpdatedAt as epoch milliseconds, with line feeds between them; what is absent is empty.',
    '每个事项行的 SHA-256 前 8 字节的异或，16 位十六进制。行由 externalId、bizStatus、externalStatusCode、sourceUpdatedAt（毫秒时间戳）以换行符连接，缺失的为空。',
  ],
  listed: ['Different ids in the list', '列表中不同的业务主键数'],
  'OrphanCount.open': ['Matters that are open or a draft here', '台账中未办结或草稿的事项数'],
  orphans: ['Those of them that are not in the list', '其中不在列表里的数量'],
};
