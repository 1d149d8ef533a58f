/** The row of the endpoint table (`protocol/endpoints.ts`) for `push-logs/resend` (contract 7.5). */
import { RESEND_ANSWER, RESEND_BODY } from '../examples/push-logs';
import { queryPath, RESEND } from '../paths';
import { BODY_LIMIT, type Endpoint, UPLOAD_TIMEOUT } from './endpoint';

export const RESEND_ENDPOINT: Endpoint<typeof RESEND> = {
  name: RESEND,
  path: queryPath(RESEND),
  document: {
    id: 'resendPushes',
    tag: 'push',
    title: ['Send logged pushes again', '重发推送日志中的推送'],
    description: [
      'Sends the stored bodies of up to 100 pushes of this client again. Pushes of one matter are sent in the order of their first receipt. A push is skipped if it took effect, or if its body is no longer stored. A push is also skipped if a later push of the same matter or idempotency key took effect. The answer names the reason. The log entry of each new push names the original push in `resentFrom`. Simultaneous resends of a push apply the push only once. `dryRun` only returns the plan, and writes nothing. The rate limit counts every push, but counts a dry run as one request.',
      '重发本 client 的最多 100 次推送，使用已保存的请求体；同一事项按最初收到的顺序重发。已生效、同一事项或幂等键之后已有推送生效、或请求体已不再保存的推送不会重发，逐条说明原因。每次重发都有自己的推送日志，resentFrom 指向原推送。同一推送多次（包括同时）重发只生效一次。dryRun 只返回计划，不写入。速率按所列推送数计算，试运行按一次计算。',
    ],
    rejections: ['INVALID_JSON', 'SCOPE_NOT_ALLOWED', 'BACKLOG_FULL', 'CLIENT_PAUSED'],
  },
  authentication: 'signature',
  rate: 'push',
  isKeyed: false,
  body: {
    schema: 'ResendBody',
    limit: { bytes: BODY_LIMIT, setting: 'BODY_LIMIT' },
    uploadTimeout: UPLOAD_TIMEOUT,
    examples: { example: RESEND_BODY },
  },
  timeout: 'BATCH_TIMEOUT',
  answer: {
    description: [
      'The database has confirmed every push. In a dry run: every push can be sent.',
      '数据库已确认每一次推送写入。',
    ],
    schema: 'ResendAnswer',
    examples: { example: RESEND_ANSWER },
    partial: {
      description: [
        'PARTIAL_FAILURE: some pushes were not sent, or failed. `data` has a result for each push.',
        'PARTIAL_FAILURE：部分推送未重发或失败，data 逐条说明，格式与全部成功时相同。',
      ],
      kind: 'retryable',
    },
  },
};
