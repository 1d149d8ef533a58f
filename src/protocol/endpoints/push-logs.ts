/** Rows of the endpoint table (`protocol/endpoints.ts`) for the queries about the push log. */
import { FAILURES, FAILURES_BODY, LOG_PAGE, STATS } from '../examples/push-logs';
import { EXAMPLE_EXTERNAL_ID } from '../examples/request';
import {
  type Failures,
  failedRow,
  failureGroup,
  failureSample,
  failures,
  failuresSchema,
  mended,
} from '../failures';
import { type LogPage, logPageSchemas } from '../log-page';
import { logQuerySchema } from '../log-query';
import { type PushStats, pushStats, statsRow, statsSchema, statsTotal } from '../push-stats';
import { signedQuery } from './endpoint';

export const PUSH_LOG_QUERIES = {
  'push-logs/query': signedQuery<LogPage>({
    id: 'queryPushLog',
    title: ['Search the push log', '查询推送日志'],
    description: [
      'The newest entry comes first, unless `oldestFirst` is true. A page can have fewer entries than `limit`. `nextCursor: null` marks the last page. `count` stops at 10,000.',
      '按时间倒序。每页最多扫描 5,000 条，只有 nextCursor 为 null 才表示结束。总数最多计到 10,000。',
    ],
    body: {
      name: 'LogQueryBody',
      schema: logQuerySchema,
      example: {
        externalId: EXAMPLE_EXTERNAL_ID,
        from: '2026-11-21T00:00:00',
        limit: 50,
        count: true,
      },
    },
    answer: {
      name: 'LogAnswer',
      description: ['A page of the push log', '推送日志的一页'],
      data: 'LogPage',
      example: LOG_PAGE,
    },
    schemas: logPageSchemas,
  }),
  'push-logs/failures': signedQuery<Failures>({
    id: 'queryFailures',
    title: ['List failed pushes', '查询失败的推送及其是否已恢复'],
    description: [
      'Groups failures by reason and field, and lists the matters. The latest failures come first. A page covers at most 5,000 failures and 500 matters. `complete: false` means that older failures exist. The next page may repeat a matter.',
      '按原因和字段分组，并按事项逐行列出。每页最多查看最近的 5,000 次失败、500 个事项；complete 为 false 表示还有更早的失败，后续页中同一事项可能再次出现。',
    ],
    body: { name: 'FailuresBody', schema: failuresSchema, example: FAILURES_BODY },
    answer: {
      name: 'FailuresAnswer',
      description: [
        'Failed pushes, and whether later pushes succeeded',
        '失败的推送及其是否已恢复',
      ],
      data: 'Failures',
      example: FAILURES,
    },
    schemas: () => ({
      FailureSample: failureSample,
      FailureGroup: failureGroup,
      Mended: mended,
      FailedRow: failedRow,
      Failures: failures,
    }),
  }),
  'push-logs/stats': signedQuery<PushStats>({
    id: 'queryStats',
    title: ['Push statistics', '推送统计'],
    description: [
      'Counts all answered pushes, including rejected pushes, by minute of receipt. A killed process loses the counts of the last few seconds. Longest windows: one day for `minute`, 31 days for `hour`, 366 days for `day`.',
      '在响应时计数，记在收到的那一分钟，含被限流或丢弃的推送。每几秒写入一次，进程被强制终止时会丢失最后几秒。最长时间窗：按分钟一天，按小时 31 天，按天 366 天。',
    ],
    body: {
      name: 'StatsBody',
      schema: statsSchema,
      example: { from: '2026-11-21T00:00:00', to: '2026-11-22T00:00:00', by: 'hour' },
    },
    answer: {
      name: 'StatsAnswer',
      description: ['Numbers and durations of pushes', '推送的数量与耗时'],
      data: 'PushStats',
      example: STATS,
    },
    schemas: () => ({ StatsTotal: statsTotal, StatsRow: statsRow, PushStats: pushStats }),
  }),
} as const;
