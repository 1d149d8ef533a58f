/** The request body of the query `push-logs/query`. */
import { z } from 'zod';
import { anyInstant, nullIsAbsent } from './fields';
import { describe } from './language';
import { asInEntry } from './log-entry';
import { LOG_STATES } from './log-states';
import { cursor, oneOrMoreNames, orderedWindow, pageSize, WINDOW } from './query-body';
import { absentMeans, maximumIf, notBoth } from './schema-rules';
import { TEXTS, zodMessage } from './texts';

const MAX_WITH_BODIES = 50;
const DEFAULT_PAGE = 50;

const REQUEST_ID = /^[0-9a-f]{24}$/i;
const requestId = () =>
  nullIsAbsent(
    z
      .string()
      .regex(REQUEST_ID, zodMessage(TEXTS.requestId))
      .transform((id) => id.toLowerCase()),
  );
const word = nullIsAbsent(z.string().min(1).max(64));
const flag = nullIsAbsent(z.boolean()).meta(absentMeans(false));

const FILTER = describe(
  'One name or several alternative names. An entry must match all filters. `outcome` and `reason` cannot be combined.',
  '单个名称，或名称列表（满足其一即可）。日志须满足所有筛选条件；outcome 与 reason 不能同时使用。',
);

export function logQuerySchema(timeZone: string) {
  const instant = nullIsAbsent(anyInstant(timeZone)).meta(WINDOW);
  const body = z
    .object({
      requestId: requestId().meta(describe('Only this request', '指定的一次请求')),
      batchId: requestId().meta(
        describe(
          'The requestId of a batch: selects the lines of the batch, or the entry of a rejected batch',
          '批次响应的 requestId：返回该批次的各行；整体被拒绝时返回该批次本身',
        ),
      ),
      idempotencyKey: nullIsAbsent(z.string().min(1).max(255)).meta(asInEntry('idempotencyKey')),
      externalId: nullIsAbsent(z.string().min(1).max(128)).meta(
        describe('The externalId of the matter', '事项的业务主键'),
      ),
      operation: word.meta(asInEntry('operation')),
      outcome: oneOrMoreNames.meta(FILTER),
      reason: oneOrMoreNames.meta(FILTER),
      failed: flag.meta(
        describe(
          'True: only requests that were rejected or have expired',
          '为 true 时只返回未生效的请求（被拒绝或已过期）',
        ),
      ),
      stillFailed: flag.meta(
        describe(
          'True: only unresolved failures. A later persisted push of the same matter resolves a failure. A later successful push with the same client, operation and idempotency key resolves a failure. A successful resend of the failed push resolves the failure. A resend of an older push resolves nothing. Rejected batches are not included.',
          '为 true 时只返回至今未补救的失败。以下情形视为已补救：同一事项之后有推送落库；同一 client、操作、幂等键之后有推送成功；该失败推送的重发成功。更早推送的重发不算补救。不含被整体拒绝的批次。',
        ),
      ),
      state: nullIsAbsent(z.enum(LOG_STATES)).meta(asInEntry('state')),
      from: instant,
      to: instant,
      limit: pageSize(DEFAULT_PAGE).meta(
        describe(
          'Maximum entries of a page; at most 50 with `includeBody`',
          '每页条数；includeBody 为 true 时最多 50',
        ),
      ),
      cursor,
      count: flag.meta(
        describe('True: the answer has the number of matching entries', '是否返回总数'),
      ),
      includeBody: flag.meta(
        describe('True: each entry has its body as it was sent', '是否返回原始请求体'),
      ),
      oldestFirst: flag.meta(
        describe(
          'True: oldest entry first. False: newest entry first',
          '为 true 时按时间正序返回（翻页同序），否则按时间倒序',
        ),
      ),
    })
    .refine((query) => query.outcome === undefined || query.reason === undefined, {
      path: ['reason'],
      message: zodMessage(TEXTS.notWithOutcome),
    })
    .refine((query) => !query.includeBody || query.limit <= MAX_WITH_BODIES, {
      path: ['limit'],
      message: zodMessage(TEXTS.withBodies(MAX_WITH_BODIES)),
    })
    .meta({
      ...describe(
        'Filters of the push log; `from` must be before `to`',
        '推送日志的查询条件；from 必须早于 to',
      ),
      ...notBoth('outcome', 'reason'),
      ...maximumIf('includeBody', 'limit', MAX_WITH_BODIES),
    });
  return orderedWindow(body, 'from', 'to');
}
