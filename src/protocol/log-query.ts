/** The body of `push-logs/query`. */
import { z } from 'zod';
import { about } from './bilingual';
import { anyInstant, nullIsAbsent } from './fields';
import { absentMeans, atMostWhere, notBoth } from './json-schema';
import { asInEntry } from './log-entry';
import { LOG_STATES } from './log-states';
import { cursor, oneOrMoreWords, orderedWindow, pageSize, WINDOW } from './query-body';
import { TEXTS } from './texts';
import { saying } from './zod-texts';

/** Most entries of a page that brings the bodies along. */
const MAX_WITH_BODIES = 50;
const DEFAULT_PAGE = 50;

const REQUEST_ID = /^[0-9a-f]{24}$/i;
const requestId = () =>
  nullIsAbsent(
    z
      .string()
      .regex(REQUEST_ID, saying(TEXTS.requestId))
      .transform((id) => id.toLowerCase()),
  );
const word = nullIsAbsent(z.string().min(1).max(64));
const flag = nullIsAbsent(z.boolean()).meta(absentMeans(false));

const FILTER = about(
  'One name, or a list of which one must hold. Narrows the search; all given fields must hold. Not together with `reason` or `outcome`, the other of the two.',
  '单个名称，或名称列表（满足其一即可）。缩小查询范围，所有条件同时满足；outcome 与 reason 不能同时使用。',
);

/** @param timeZone zone in which local date-times are read (PORTAL_TIME_ZONE) */
export function logQuerySchema(timeZone: string) {
  const instant = nullIsAbsent(anyInstant(timeZone)).meta(WINDOW);
  const body = z
    .object({
      requestId: requestId().meta(about('The one request', '指定的一次请求')),
      batchId: requestId().meta(
        about(
          'The requestId of the answer to a batch: its lines, or the batch itself where it was rejected as a whole',
          '批次响应的 requestId：返回该批次的各行；整体被拒绝时返回该批次本身',
        ),
      ),
      idempotencyKey: nullIsAbsent(z.string().min(1).max(255)).meta(asInEntry('idempotencyKey')),
      externalId: nullIsAbsent(z.string().min(1).max(128)).meta(
        about('The matter', '事项的业务主键'),
      ),
      operation: word.meta(asInEntry('operation')),
      outcome: oneOrMoreWords.meta(FILTER),
      reason: oneOrMoreWords.meta(FILTER),
      failed: flag.meta(
        about(
          'True: only what ended without an effect, rejected or expired',
          '为 true 时只返回未生效的请求（被拒绝或已过期）',
        ),
      ),
      stillFailed: flag.meta(
        about(
          'True: only failures that nothing mended: no later push of the matter was persisted, and none with the same client, operation and key took effect. One without a key is known by console/<requestId>, the key under which the console sends it, one without a matter also where an operator resent it. Batches rejected as a whole are not among them.',
          '为 true 时只返回至今未补救的失败：该事项之后没有推送落库，同一 client、操作、幂等键之后也没有成功；无幂等键的按控制台重发所用的 console/<requestId> 判断，无事项的也计入运维人员的重发。不含被整体拒绝的批次。',
        ),
      ),
      state: nullIsAbsent(z.enum(LOG_STATES)).meta(asInEntry('state')),
      from: instant,
      to: instant,
      limit: pageSize(DEFAULT_PAGE).meta(
        about(
          'Entries of a page; at most 50 with `includeBody`',
          '每页条数；includeBody 为 true 时最多 50',
        ),
      ),
      cursor,
      count: flag.meta(about('Adds how many there are', '是否返回总数')),
      includeBody: flag.meta(about('Adds the bodies as they were sent', '是否返回原始请求体')),
      oldestFirst: flag.meta(
        about(
          'The oldest first, also from page to page; else the newest',
          '为 true 时按时间正序返回（翻页同序），否则按时间倒序',
        ),
      ),
    })
    .refine((query) => query.outcome === undefined || query.reason === undefined, {
      path: ['reason'],
      message: saying(TEXTS.notWithOutcome),
    })
    .refine((query) => !query.includeBody || query.limit <= MAX_WITH_BODIES, {
      path: ['limit'],
      message: saying(TEXTS.withBodies(MAX_WITH_BODIES)),
    })
    .meta({
      ...about(
        'Filters of the push log; `from` must lie before `to`',
        '推送日志的查询条件；from 必须早于 to',
      ),
      ...notBoth('outcome', 'reason'),
      ...atMostWhere('includeBody', 'limit', MAX_WITH_BODIES),
    });
  return orderedWindow(body, 'from', 'to');
}
