/** The fields of a push-log entry (contract 5.3). */
import { z } from 'zod';
import type { FieldChange } from '../domain/changes';
import { type Answer, instant, requestId, type ShapeOf } from './answer-shape';
import {
  type Audience,
  hex,
  INSTANT,
  internalField,
  MATTER_ID,
  NUMBER,
  operatorField,
  optionalField,
  presentedField,
  REQUEST_ID,
  requiredField,
  TEXT,
} from './entry-field';
import { describe } from './language';
import { LOG_STATES } from './log-states';
import { fieldError, warning } from './warnings';

const names = () => z.array(z.string()).optional();
const value = () => z.union([z.string(), z.boolean(), z.null()]).optional();

export const fieldChange = z
  .object({
    field: z.string().meta(describe('The field that changed', '改变的字段')),
    from: value().meta(
      describe(
        'The old value; absent if the push created the matter',
        '改变前的值；推送新建事项时没有此字段',
      ),
    ),
    to: value().meta(describe('The new value', '改变后的值')),
    added: names().meta(
      describe('Added parties, as `ROLE username`', '新增的参与人，形如 ROLE username'),
    ),
    removed: names().meta(describe('Removed parties, as `ROLE username`', '移除的参与人')),
    unread: names().meta(
      describe('Parties for which the matter became unread again', '重新变为未读的参与人'),
    ),
  } satisfies ShapeOf<FieldChange>)
  .meta(
    describe(
      'A field that a push changed. `from` and `to` exist only for matterType, bizType, bizStatus, externalStatusCode, priority, deleted and the time fields.',
      '推送改变的字段；只有 matterType、bizType、bizStatus、externalStatusCode、priority、deleted 和各时间字段有 from 和 to',
    ),
  );

const BY_QUEUE = [
  'ISO-8601 in UTC, by the clock of the queue (Redis)',
  'ISO-8601 格式，UTC 时间，以队列时钟为准',
] as const;

export const ENTRY_FIELDS = {
  requestId: presentedField(
    requestId(),
    'The id of the request in the push log. Quote this id in support requests',
    '凭它可在推送日志中查到本次请求',
  ),
  clientId: requiredField(TEXT, 'The client that sent the request', '发送方 client_id'),
  systemCode: optionalField(TEXT, 'System code of the client', '该 client 绑定的系统编码'),
  operation: requiredField(
    TEXT,
    'upsert, status, reopen, delete, or the name of a query. `matters/batch`: a batch rejected as a whole, or a line without an operation',
    '操作名，或查询接口名；matters/batch 表示整体被拒绝的批次，或没有操作的行',
  ),
  externalId: optionalField(
    TEXT,
    'The matter of the request; null if unknown',
    '涉及的事项，未知时为 null',
  ),
  idempotencyKey: optionalField(
    TEXT,
    'The idempotency key of the request or line',
    '请求或批次中该行的幂等键',
  ),
  attempt: presentedField(
    z.int().min(1).max(100).nullable(),
    '1 for the first request with this operation and key, 2 for the second; null without a key or above 100',
    '同一 client、操作、幂等键的第几次请求；无幂等键或超过 100 次时为 null',
  ),
  batchId: optionalField(
    REQUEST_ID,
    'For a line of a batch: the requestId of the answer to the batch',
    '批次中的一行：该批次响应的 requestId',
  ),
  batchLine: optionalField(
    NUMBER,
    'The number of the line in the batch, from 1',
    '在该批次中的行号，从 1 开始',
  ),
  bodyHash: requiredField(
    hex(64),
    'SHA-256 of the raw body, hex',
    '原始请求体的 SHA-256（十六进制）',
  ),
  bodySize: requiredField(NUMBER, 'Size of the raw body in bytes', '原始请求体的字节数'),
  secretId: optionalField(
    TEXT,
    'The id of the secret that signed the request',
    '签名所用密钥的编号',
  ),
  receivedAt: requiredField(
    INSTANT,
    'Arrival of the whole request: ISO-8601 in UTC',
    '完整收到的时间：ISO-8601，UTC',
  ),
  deadlineAt: requiredField(
    INSTANT,
    'Deadline of the confirmation: ISO-8601 in UTC',
    '调用方等待确认的截止时间：ISO-8601，UTC',
  ),
  queuedAt: optionalField(INSTANT, ...BY_QUEUE),
  /** When a worker started to process the push. */
  startedAt: optionalField(INSTANT, ...BY_QUEUE),
  settledAt: optionalField(
    INSTANT,
    'Time of the final state: ISO-8601 in UTC',
    '落库或终止的时间：ISO-8601，UTC',
  ),
  state: presentedField(
    z.enum(LOG_STATES),
    'QUEUED: in progress. PERSISTED: the outcome is in the database. REPLAYED: a retry that got the outcome of the first push. REFUSED: rejected, see `reason`. EXPIRED: the service did not confirm the push in time and never applies the push.',
    'QUEUED 处理中；PERSISTED 已落库；REPLAYED 重试，返回首次结果；REFUSED 被拒绝，见 reason；EXPIRED 未及时确认，不会再生效。',
  ),
  outcome: presentedField(
    z.string().nullable(),
    'The outcome of a successful push',
    '成功推送的结果',
  ),
  reason: presentedField(z.string().nullable(), 'The reason of a failed push', '未成功推送的原因'),
  problems: presentedField(
    z.array(fieldError),
    'Problems of fields, at most 20',
    '有问题的字段，最多 20 个',
  ),
  warnings: presentedField(
    z.array(warning),
    'Suspicious values of the body. A warning does not make a push fail',
    '请求体中看起来有问题的内容，与推送结果无关',
  ),
  stale: presentedField(
    z
      .object({
        sent: instant().meta(
          describe('The time in the push: ISO-8601 in UTC', '推送中的值：ISO-8601，UTC'),
        ),
        stored: instant().meta(
          describe('The time in the ledger: ISO-8601 in UTC', '台账中的值：ISO-8601，UTC'),
        ),
      })
      .nullable(),
    'For STALE_IGNORED: `sourceUpdatedAt` in the push and in the ledger',
    'STALE_IGNORED 时：本次的 sourceUpdatedAt 与已保存的较新值',
  ),
  matterId: optionalField(
    MATTER_ID,
    'Id in the portal: 64 bits as a string of decimal digits',
    '门户中的事项编号：64 位整数，以十进制字符串表示',
  ),
  revision: optionalField(
    NUMBER,
    'The revision of the matter after the push; null if the push changed nothing',
    '推送改变事项后的修订号，未改变时为 null',
  ),
  changes: presentedField(z.array(fieldChange), 'The changes of the matter', '对事项的改变'),
  duplicateOf: optionalField(
    REQUEST_ID,
    'For a retry: the requestId of the first request',
    '若为重试：首次请求的编号，返回的是首次请求的结果',
  ),
  resentFrom: optionalField(
    REQUEST_ID,
    'For a resend: the requestId of the original request',
    '重发时：被重发的原请求',
  ),
  mark: presentedField(
    z.literal('KEY_REUSED').nullable(),
    'KEY_REUSED: an earlier request had the idempotency key and a different body',
    'KEY_REUSED：该幂等键曾用于不同的请求体',
  ),
  traceId: optionalField(
    hex(32),
    'The trace id of the request in the tracing system of the operators; null if tracing is off',
    '该请求的 trace id，供运维方在链路追踪系统中查找；未开启追踪时为 null',
  ),
  /** The name of the web or worker process that settled the push. */
  worker: operatorField(TEXT),
  /** The operator who resent the push. */
  operator: operatorField(TEXT),
  /** Digest of client, operation, idempotency key and body. */
  idempotencyFingerprint: internalField(TEXT),
  /** Copy of the reason of a failed request, for the partial index `failures`. */
  failure: internalField(TEXT),
  /** Set only for unauthenticated requests: MongoDB deletes the entry at this time. */
  expireAt: internalField(INSTANT),
} as const;

export type EntryFields = typeof ENTRY_FIELDS;

/** The description of an entry field, for use in another schema. */
export const asInEntry = (name: keyof EntryFields) => ({
  description: ENTRY_FIELDS[name].schema.description,
});

export const entryView = z.object(shapeFor('clients'));
export type EntryView = Answer<typeof entryView>;

export const operatorEntryView = z.object(shapeFor('clients', 'operators'));
export type OperatorEntryView = Answer<typeof operatorEntryView>;

type ShapeFor<Reader extends Audience> = {
  [Name in keyof EntryFields as EntryFields[Name]['shownTo'] extends Reader
    ? Name
    : never]: EntryFields[Name]['schema'];
};

function shapeFor<Reader extends Audience>(...readers: readonly Reader[]): ShapeFor<Reader> {
  const shown = Object.entries(ENTRY_FIELDS).filter(([, { shownTo }]) =>
    (readers as readonly Audience[]).includes(shownTo),
  );
  return Object.fromEntries(shown.map(([name, { schema }]) => [name, schema])) as ShapeFor<Reader>;
}
