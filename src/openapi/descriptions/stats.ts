/** What the fields of push-logs/stats mean (docs/reconcile.md). */
import type { Bilingual } from '../../protocol/bilingual';

const PUSHES: Bilingual = ['Pushes', '推送数'];
const PERCENTILE: Bilingual = [
  'Milliseconds from receipt to answer, to within 15 %; null: there were none',
  '从收到到响应的毫秒数，误差不超过 15%；没有推送时为 null',
];
const FILTER: Bilingual = [
  'One name, or several of which one must hold; those of the other of the two count too. REPLAYED: an earlier outcome was repeated.',
  '单个名称或名称列表，满足其一即可；outcome 与 reason 同时给出时取并集。REPLAYED 表示返回了首次结果。',
];

export const STATS_DESCRIPTIONS: Readonly<Record<string, Bilingual>> = {
  notRecorded: [
    'Pushes like these that have no entry of their own, because they were rejected in crowds or while the database was away; counted to the minute',
    '同类推送中因数量过多或数据库不可用而没有单独日志的次数，按分钟统计',
  ],
  by: ['Length of the rows, in the time zone of the portal', '统计粒度，按门户时区'],
  'StatsBody.outcome': FILTER,
  'StatsBody.reason': FILTER,
  'PushStats.from': [
    'Where the counted window begins: ISO-8601 in UTC',
    '统计窗口的起点：ISO-8601，UTC',
  ],
  'PushStats.to': ['Where it ends: ISO-8601 in UTC', '统计窗口的终点：ISO-8601，UTC'],
  rows: ['In the order of time; what did not happen has no row', '按时间顺序；没有发生的不返回'],
  'PushStats.complete': [
    'False: there was too much to count; `from` is where the counted part begins',
    '为 false 时数据过多，只统计了 from 之后的部分',
  ],
  start: ['Where its time begins: ISO-8601 in UTC', '时段的起点：ISO-8601，UTC'],
  'StatsRow.outcome': [
    'REPLAYED: an earlier outcome was repeated; null: they failed',
    'REPLAYED 表示返回了首次结果；失败时为 null',
  ],
  'StatsRow.reason': ['Why they failed; null: they did not', '失败原因；成功时为 null'],
  'StatsRow.pushes': PUSHES,
  'StatsTotal.pushes': PUSHES,
  'StatsTotal.succeeded': ['Answered with code 0', '返回 code 0 的推送数'],
  'StatsTotal.failed': ['Answered with another code', '返回其他 code 的推送数'],
  p50Ms: PERCENTILE,
  p95Ms: PERCENTILE,
};
