/**
 * The fields of a push-log entry, each described once: how it is kept, to whom it is shown, and what it
 * means, in both languages. The stored type and the schema of the database, the answer of push-logs/query
 * in openapi.json and on the reference page, and what `matterctl log` shows are made of this table
 * (docs/architecture.md, "Where to add").
 */
import { z } from 'zod';
import type { FieldChange } from '../domain/changes';
import { type Answer, instant, requestId, type ShapeOf } from './answer-shape';
import { about } from './bilingual';
import {
  type Audience,
  always,
  forOperators,
  hex,
  INSTANT,
  internal,
  MATTER_ID,
  NUMBER,
  presented,
  REQUEST_ID,
  sometimes,
  TEXT,
} from './entry-field';
import { fieldError } from './field-error';
import { LOG_STATES } from './log-states';
import { warning } from './warnings';

const names = () => z.array(z.string()).optional();
const value = () => z.union([z.string(), z.boolean(), z.null()]).optional();

/** A field that a push changed. */
export const fieldChange = z
  .object({
    field: z.string().meta(about('The field that changed', '改变的字段')),
    from: value().meta(about('Before, of states and times only', '改变前的值，仅状态和时间')),
    to: value().meta(about('After, of states and times only', '改变后的值，仅状态和时间')),
    added: names().meta(
      about('Parties that came, as `ROLE username`', '新增的参与人，形如 ROLE username'),
    ),
    removed: names().meta(about('Parties that left', '移除的参与人')),
    unread: names().meta(about('Parties that have it unread again', '重新变为未读的参与人')),
  } satisfies ShapeOf<FieldChange>)
  .meta(
    about(
      'A field that a push changed; titles and texts are only named',
      '推送改变的字段；标题和正文只列字段名',
    ),
  );

const BY_QUEUE = [
  'ISO-8601 in UTC, by the clock of the queue',
  'ISO-8601 格式，UTC 时间，以队列时钟为准',
] as const;

export const ENTRY_FIELDS = {
  requestId: presented(
    requestId(),
    'Finds the request in the push log; quote it in questions',
    '凭它可在推送日志中查到本次请求',
  ),
  clientId: always(TEXT, 'The client that sent it', '发送方 client_id'),
  systemCode: sometimes(TEXT, 'System code of that client', '该 client 绑定的系统编码'),
  operation: always(
    TEXT,
    'upsert, status, reopen, delete, or the name of a query; matters/batch: a batch that was rejected as a whole, or a line without an operation',
    '操作名，或查询接口名；matters/batch 表示整体被拒绝的批次，或没有操作的行',
  ),
  externalId: sometimes(
    TEXT,
    'The matter that it was about, as far as known',
    '涉及的事项，未知时为 null',
  ),
  idempotencyKey: sometimes(
    TEXT,
    'X-Idempotency-Key as it was sent',
    '当时发送的 X-Idempotency-Key',
  ),
  attempt: presented(
    z.int().min(1).max(100).nullable(),
    'Attempt number (1-based) among the requests of this client, operation and key; null without a key, or beyond 100',
    '同一 client、操作、幂等键的第几次请求；无幂等键或超过 100 次时为 null',
  ),
  batchId: sometimes(
    REQUEST_ID,
    'Of a line of a batch: the requestId of the answer to the batch',
    '批次中的一行：该批次响应的 requestId',
  ),
  batchLine: sometimes(NUMBER, 'Its number in that batch, from 1', '在该批次中的行号，从 1 开始'),
  bodyHash: always(hex(64), 'SHA-256 of the raw body, hex', '原始请求体的 SHA-256（十六进制）'),
  bodySize: always(NUMBER, 'Bytes of the raw body', '原始请求体的字节数'),
  secretId: sometimes(TEXT, 'Which of the secrets signed', '签名所用密钥的编号'),
  receivedAt: always(
    INSTANT,
    'When all of it was there: ISO-8601 in UTC',
    '完整收到的时间：ISO-8601，UTC',
  ),
  deadlineAt: always(
    INSTANT,
    'Until when its caller waits for the confirmation: ISO-8601 in UTC',
    '调用方等待确认的截止时间：ISO-8601，UTC',
  ),
  /** When it was in its partition. */
  queuedAt: sometimes(INSTANT, ...BY_QUEUE),
  /** When a worker took it up. */
  startedAt: sometimes(INSTANT, ...BY_QUEUE),
  settledAt: sometimes(
    INSTANT,
    'When it was persisted, or ended without an effect: ISO-8601 in UTC',
    '落库或终止的时间：ISO-8601，UTC',
  ),
  state: presented(
    z.enum(LOG_STATES),
    'QUEUED: under way. PERSISTED: written. REPLAYED: a retry that was answered with the first outcome. REFUSED: see `reason`. EXPIRED: not confirmed in time, and never applied.',
    'QUEUED 处理中；PERSISTED 已落库；REPLAYED 重试，返回首次结果；REFUSED 被拒绝，见 reason；EXPIRED 未及时确认，不会再生效。',
  ),
  outcome: presented(
    z.string().nullable(),
    'What the caller of an accepted push was told',
    '成功推送的结果',
  ),
  reason: presented(
    z.string().nullable(),
    'What the caller of another one was told',
    '未成功推送的原因',
  ),
  problems: presented(
    z.array(fieldError),
    'Which fields were wrong, the first 20',
    '有问题的字段，最多 20 个',
  ),
  warnings: presented(
    z.array(warning),
    'What looks wrong in the body, whatever became of the push',
    '请求体中看起来有问题的内容，与推送结果无关',
  ),
  stale: presented(
    z
      .object({
        sent: instant().meta(about('Of the push: ISO-8601 in UTC', '推送中的值：ISO-8601，UTC')),
        stored: instant().meta(
          about('Of the matter: ISO-8601 in UTC', '台账中的值：ISO-8601，UTC'),
        ),
      })
      .nullable(),
    'Of STALE_IGNORED: its `sourceUpdatedAt`, and the newer one that it met',
    'STALE_IGNORED 时：本次的 sourceUpdatedAt 与已保存的较新值',
  ),
  matterId: sometimes(
    MATTER_ID,
    'Id in the portal: 64 bits as a string of decimal digits',
    '门户中的事项编号：64 位整数，以十进制字符串表示',
  ),
  revision: sometimes(
    NUMBER,
    'Of the matter after it, where it changed the matter',
    '推送改变事项后的修订号，未改变时为 null',
  ),
  changes: presented(z.array(fieldChange), 'What it changed in the matter', '对事项的改变'),
  duplicateOf: sometimes(
    REQUEST_ID,
    'Of a retry: the request whose outcome it was answered with',
    '重试所返回结果的首次请求',
  ),
  resentFrom: sometimes(
    REQUEST_ID,
    'Of a resend: the request that an operator sent again with this one',
    '运维人员用本次请求重发的原请求',
  ),
  mark: presented(
    z.literal('KEY_REUSED').nullable(),
    'KEY_REUSED: the key came with another body before',
    'KEY_REUSED：该幂等键曾用于不同的请求体',
  ),
  traceId: sometimes(
    hex(32),
    "The trace of the request, in the operators' tracing system; null where no traces are kept",
    '该请求的 trace id，供运维方在链路追踪系统中查找；未开启追踪时为 null',
  ),
  /** The process that settled it. */
  worker: forOperators(TEXT),
  /** Who sent it again. */
  operator: forOperators(TEXT),
  /**
   * Digest of client, operation, idempotency key and body, of what is queued or persisted: a retry
   * finds its prior result by it.
   */
  idempotencyFingerprint: internal(TEXT),
  /** Of a push that ended without an effect: its reason, by which failures are found. */
  failure: internal(TEXT),
  /** When the database removes the entry; absent: after PUSH_LOG_RETENTION. */
  expireAt: internal(INSTANT),
} as const;

export type EntryFields = typeof ENTRY_FIELDS;

/** For `meta` of a schema elsewhere that is about a field of an entry: a filter, a row of failures. */
export const asInEntry = (name: keyof EntryFields) => ({
  description: ENTRY_FIELDS[name].schema.description,
});

/** What a client is shown of an entry: JSON-safe, absent values null, instants ISO-8601 UTC. */
export const entryView = z.object(shapeFor('clients'));
export type EntryView = Answer<typeof entryView>;

/** The same for operators, who read English. */
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
