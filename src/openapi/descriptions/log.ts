/** What the fields of an entry of the push log mean (docs/reconcile.md, "push-logs/query"). */
import type { Bilingual } from '../../protocol/bilingual';

const BY_QUEUE: Bilingual = [
  'ISO-8601 in UTC, by the clock of the queue',
  'ISO-8601 格式，UTC 时间，以队列时钟为准',
];
const INSTANT: Bilingual = [
  'In any form that `sourceUpdatedAt` takes; the window includes its beginning and excludes its end',
  '与 sourceUpdatedAt 相同的任一时间格式；时间窗含起点、不含终点',
];
const FILTER: Bilingual = [
  'One name, or a list of which one must hold. Narrows the search; all given fields must hold. Not together with `reason` or `outcome`, the other of the two.',
  '单个名称，或名称列表（满足其一即可）。缩小查询范围，所有条件同时满足；outcome 与 reason 不能同时使用。',
];

export const LOG_DESCRIPTIONS: Readonly<Record<string, Bilingual>> = {
  'LogQueryBody.requestId': ['The one request', '指定的一次请求'],
  'LogQueryBody.externalId': ['The matter', '事项的业务主键'],
  'LogQueryBody.outcome': FILTER,
  'LogQueryBody.reason': FILTER,
  failed: [
    'True: only what ended without an effect, rejected or expired',
    '为 true 时只返回未生效的请求（被拒绝或已过期）',
  ],
  'LogQueryBody.stillFailed': [
    'True: only failures that nothing mended: no later push of the matter was persisted, and none with the same client, operation and key took effect. One that names neither is never known to be mended.',
    '为 true 时只返回至今未补救的失败：该事项之后没有推送落库，同一 client、操作、幂等键之后也没有成功；两者皆无的视为未补救。',
  ],
  'LogQueryBody.limit': [
    'Entries of a page; at most 50 with `includeBody`',
    '每页条数；includeBody 为 true 时最多 50',
  ],
  from: INSTANT,
  to: INSTANT,
  'LogQueryBody.count': ['Adds how many there are', '是否返回总数'],
  includeBody: ['Adds the bodies as they were sent', '是否返回原始请求体'],
  'LogQueryBody.oldestFirst': [
    'The oldest first, also from page to page; else the newest',
    '为 true 时按时间正序返回（翻页同序），否则按时间倒序',
  ],
  clientId: ['The client that sent it', '发送方 client_id'],
  'LogEntry.systemCode': ['System code of that client', '该 client 绑定的系统编码'],
  operation: ['upsert, status, reopen, delete, or the name of a query', '操作名，或查询接口名'],
  'LogEntry.externalId': [
    'The matter that it was about, as far as known',
    '涉及的事项，未知时为 null',
  ],
  idempotencyKey: ['X-Idempotency-Key as it was sent', '当时发送的 X-Idempotency-Key'],
  attempt: [
    'Attempt number (1-based) among the requests of this client, operation and key; null without a key, or beyond 100',
    '同一 client、操作、幂等键的第几次请求；无幂等键或超过 100 次时为 null',
  ],
  bodyHash: ['SHA-256 of the raw body, hex', '原始请求体的 SHA-256（十六进制）'],
  bodySize: ['Bytes of the raw body', '原始请求体的字节数'],
  secretId: ['Which of the secrets signed', '签名所用密钥的编号'],
  receivedAt: ['When all of it was there: ISO-8601 in UTC', '完整收到的时间：ISO-8601，UTC'],
  'LogEntry.deadlineAt': [
    'Until when its caller waits for the confirmation: ISO-8601 in UTC',
    '调用方等待确认的截止时间：ISO-8601，UTC',
  ],
  queuedAt: BY_QUEUE,
  startedAt: BY_QUEUE,
  settledAt: [
    'When it was persisted, or ended without an effect: ISO-8601 in UTC',
    '落库或终止的时间：ISO-8601，UTC',
  ],
  state: [
    'QUEUED: under way. PERSISTED: written. REPLAYED: a retry that was answered with the first outcome. REFUSED: see `reason`. EXPIRED: not confirmed in time, and never applied.',
    'QUEUED 处理中；PERSISTED 已落库；REPLAYED 重试，返回首次结果；REFUSED 被拒绝，见 reason；EXPIRED 未及时确认，不会再生效。',
  ],
  'LogEntry.outcome': ['What the caller of an accepted push was told', '成功推送的结果'],
  'LogEntry.reason': ['What the caller of another one was told', '未成功推送的原因'],
  problems: ['Which fields were wrong, the first 20', '有问题的字段，最多 20 个'],
  stale: [
    'Of STALE_IGNORED: its `sourceUpdatedAt`, and the newer one that it met',
    'STALE_IGNORED 时：本次的 sourceUpdatedAt 与已保存的较新值',
  ],
  sent: ['Of the push: ISO-8601 in UTC', '推送中的值：ISO-8601，UTC'],
  stored: ['Of the matter: ISO-8601 in UTC', '台账中的值：ISO-8601，UTC'],
  'LogEntry.revision': [
    'Of the matter after it, where it changed the matter',
    '推送改变事项后的修订号，未改变时为 null',
  ],
  changes: ['What it changed in the matter', '对事项的改变'],
  'FieldChange.field': ['The field that changed', '改变的字段'],
  'FieldChange.from': ['Before, of states and times only', '改变前的值，仅状态和时间'],
  'FieldChange.to': ['After, of states and times only', '改变后的值，仅状态和时间'],
  added: ['Parties that came, as `ROLE username`', '新增的参与人，形如 ROLE username'],
  removed: ['Parties that left', '移除的参与人'],
  'FieldChange.unread': ['Parties that have it unread again', '重新变为未读的参与人'],
  duplicateOf: [
    'Of a retry: the request whose outcome it was answered with',
    '重试所返回结果的首次请求',
  ],
  resentFrom: [
    'Of a resend: the request that an operator sent again with this one',
    '运维人员用本次请求重发的原请求',
  ],
  mark: [
    'KEY_REUSED: the key came with another body before',
    'KEY_REUSED：该幂等键曾用于不同的请求体',
  ],
  traceId: [
    "The trace of the request, in the operators' tracing system; null where no traces are kept",
    '该请求的 trace id，供运维方在链路追踪系统中查找；未开启追踪时为 null',
  ],
  body: [
    'As it was sent; `base64:` and its bytes where that is no UTF-8; null where it is not kept any more',
    '原始请求体；不是 UTF-8 时为 base64: 加字节；已不保存时为 null',
  ],
  diagnosis: [
    'Of a request that was rejected with SIGNATURE_MISMATCH or TIMESTAMP_OUT_OF_WINDOW, where `requestId` asks for it alone and its own client asks',
    '仅当该请求所属的 Client 按 requestId 查询、且请求因 SIGNATURE_MISMATCH 或 TIMESTAMP_OUT_OF_WINDOW 被拒时返回',
  ],
  findings: [
    'At least one; several where several mistakes came together',
    '至少一条；多个错误同时存在时有多条',
  ],
  tried: ['Digests that were made and compared', '尝试比对的摘要数量'],
  complete: [
    'False: it was cut off before everything was tried',
    '为 false 时因时间或次数上限未全部尝试',
  ],
  cause: ['Stable; new ones may be added', '稳定的原因代码，可能新增'],
  explanation: ['What went wrong', '错误说明'],
  fix: ['What to do about it', '处理办法'],
  difference: [
    'Where the body was sent in another writing than it was signed in',
    '请求体的书写形式在签名后发生变化时返回',
  ],
  offset: ['The first byte that differs, from 0', '首个不同字节的位置，从 0 起'],
  'BodyDifference.sent': [
    'What was sent there, escaped as in JSON',
    '该处实际发送的内容，按 JSON 转义',
  ],
  'BodyDifference.signed': [
    'What was signed there, escaped as in JSON',
    '该处被签名的内容，按 JSON 转义',
  ],
  entries: [
    'The newest first, or the oldest with `oldestFirst`; a page may be short and not be the last',
    '按时间倒序，oldestFirst 为 true 时按正序；一页可能不满但不是最后一页',
  ],
  'LogPage.count': ['How many there are, where asked for', '总数，仅在请求时返回'],
  'LogPage.value': ['Counted', '计数值'],
  'LogPage.exact': ['False: there are more', '为 false 时实际更多'],
};
