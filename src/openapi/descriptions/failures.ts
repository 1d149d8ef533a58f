/** What the fields of `push-logs/failures` mean (docs/reconcile.md). */
import type { Bilingual } from '../../protocol/bilingual';

const PUSHES: Bilingual = ['Failed pushes', '失败的推送数'];
const MATTERS: Bilingual = [
  'Their matters; a push without one counts by its key, or alone',
  '涉及的事项数；没有事项的推送按幂等键计，都没有时各计一个',
];
const STILL_FAILED: Bilingual = [
  'Those that no later push has mended',
  '其中之后没有成功推送的数量',
];
const FIRST: Bilingual = ['The first one looked at: ISO-8601 in UTC', '最早一次：ISO-8601，UTC'];
const LAST: Bilingual = ['The last one: ISO-8601 in UTC', '最近一次：ISO-8601，UTC'];
const REASON: Bilingual = ['What its caller was told', '返回给调用方的原因'];

export const FAILURE_DESCRIPTIONS: Readonly<Record<string, Bilingual>> = {
  'FailuresBody.reason': [
    'One reason, or a list of which one must hold. Absent: all but those that anybody who knows a client id can cause: SIGNATURE_MISMATCH, TIMESTAMP_OUT_OF_WINDOW, NO_USABLE_SECRET',
    '单个原因，或原因列表（满足其一即可）。未传时为除 SIGNATURE_MISMATCH、TIMESTAMP_OUT_OF_WINDOW、NO_USABLE_SECRET 之外的全部原因（这三种任何知道 client_id 的人都能造成）',
  ],
  'FailuresBody.stillFailed': [
    'True: only what no later push has mended',
    '为 true 时只返回之后没有成功推送的',
  ],
  'FailuresBody.limit': ['Most rows of a page', '每页最多行数'],
  totals: ['Of what this page looked at', '本页范围内的合计'],
  groups: [
    'By reason and field, the largest first; a push with several fields is counted with each',
    '按原因和字段分组，数量多的在前；涉及多个字段的推送在每个字段中各计一次',
  ],
  moreGroups: ['Groups that there are besides', '未列出的分组数'],
  rows: [
    'One for each matter, else key, else push; the last failed first',
    '每个事项一行（没有事项时按幂等键，都没有时按推送），最近失败的在前',
  ],
  'Failures.complete': [
    'False: there are older failures; go on with `nextCursor`',
    '为 false 时还有更早的失败，请用 nextCursor 继续',
  ],
  keptSince: [
    'What was received before it is not in the log any more: ISO-8601 in UTC',
    '早于此时间的推送日志已不再保存：ISO-8601，UTC',
  ],
  pushes: PUSHES,
  'totals.matters': MATTERS,
  'FailureGroup.matters': MATTERS,
  stillFailed: STILL_FAILED,
  'FailureGroup.reason': REASON,
  'FailedRow.reason': ['Of the last failure', '最近一次失败的原因'],
  'FailureGroup.field': [
    'Of the problem, without places in lists: `parties[].username`; null: of no field',
    '有问题的字段，不含列表下标，如 parties[].username；null 表示与字段无关',
  ],
  firstSeen: FIRST,
  lastSeen: LAST,
  samples: ['The newest ones, three at most', '最近的样本，最多三个'],
  'FailedRow.requestId': ['The last failure', '最近一次失败的请求'],
  'FailureSample.externalId': ['Its matter, as far as known', '涉及的事项，未知时为 null'],
  'FailedRow.externalId': ['The matter, as far as known', '涉及的事项，未知时为 null'],
  fields: ['Of its problems', '有问题的字段'],
  failures: ['Failed pushes of it in this page', '本页范围内的失败次数'],
  mended: [
    'The first push after it that was accepted, of the same matter, else of the same key; null: none',
    '之后同一事项（没有事项时为同一幂等键）首次成功的推送；null 表示没有',
  ],
  at: ['When it was settled: ISO-8601 in UTC', '完成时间：ISO-8601，UTC'],
  'Mended.outcome': [
    'STALE_IGNORED too: the ledger has something newer',
    '推送结果，含 STALE_IGNORED（台账中已有更新的数据）',
  ],
};
