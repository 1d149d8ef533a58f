/** Describes when each reason occurs and what the caller can do. */

import type { Reason } from '../protocol/errors';
import type { Bilingual } from '../protocol/language';

export const REASON_DESCRIPTIONS: Readonly<Record<Reason, Bilingual>> = {
  PARTIAL_FAILURE: [
    'At least one line of a batch or resend failed. `data.results` has the result of each line. `retryable` is true if a retry of at least one failed line can succeed.',
    '批次或重发中至少一行失败，data.results 逐行给出结果。retryable 表示失败的行中有可重试的。',
  ],
  BODY_TOO_LARGE: [
    'The body is larger than the limit of the endpoint.',
    '请求体超过该接口的上限。',
  ],
  HEADERS_TOO_LARGE: [
    'Request line and headers together exceed 16 KiB, for example because of single sign-on cookies.',
    '请求行与请求头合计超过 16 KiB，常见原因是单点登录的 Cookie；与 MALFORMED_REQUEST 一样直接在连接上返回。',
  ],
  UNSUPPORTED_ENCODING: ['Content-Encoding is not identity.', 'Content-Encoding 不是 identity。'],
  HMAC_HEADERS_MISSING: [
    'One of the three headers of the signature is missing, empty or duplicate. A gateway may have removed a header.',
    '三个签名头之一缺失、为空或重复，可能被网关去掉。',
  ],
  TIMESTAMP_OUT_OF_WINDOW: [
    'X-Timestamp differs from the time of the service by more than 300 s, or is not 1 to 12 digits.',
    'X-Timestamp 偏差超过 300 秒，或不是 1 到 12 位数字。',
  ],
  SIGNATURE_MISMATCH: [
    'The signature is wrong, or the client does not exist. Sign the exact bytes that you send, with the current secret. To find the cause, wait one second, then call push-logs/query with the requestId of the 401. `diagnosis` in the answer names the cause. The form on /docs sends this query.',
    '签名错误或 client 不存在。请检查签名后请求体是否被重新序列化，或是否使用了旧密钥。如需原因，请稍后调用 push-logs/query（签名须正确），requestId 填该 401 的 requestId，`diagnosis` 会指出原因；/docs 页面的表单可直接查询。',
  ],
  SIGNATURE_REUSED: [
    'Another request used this signature first, with a different path or idempotency key, at least SIGNATURE_GRACE (30 s) ago. Sign each request anew.',
    '该签名在 SIGNATURE_GRACE（30 秒）之前已用于其他路径或其他幂等键，请重新签名。',
  ],
  NO_USABLE_SECRET: [
    'The client has no secret, for example because its type is PUBLIC.',
    'client 为 PUBLIC 类型或没有密钥。',
  ],
  CLIENT_DISABLED: ['The client is disabled.', 'client 已停用。'],
  NO_SYSTEM_CODE: ['The client has no system code.', 'client 未绑定系统编码。'],
  SCOPE_NOT_ALLOWED: [
    'The query key (`matterctl client console`) may not push. Sign with a secret of the client, or ask an operator for a query key that may push (`--may-push`). Query keys with --no-bodies may not search by `titleContains`.',
    '签名所用的是查询密钥（`matterctl client console`），只能查询、不能推送：请使用 client_secret 签名，或由运维人员以 --may-push 重新生成链接。以 --no-bodies 生成的密钥也不能按 titleContains 搜索。',
  ],
  INVALID_ENCODING: ['The body is not UTF-8.', '请求体不是 UTF-8。'],
  INVALID_JSON: [
    'The body or line is not a JSON object. For an invalid JSON array, `errors` has the position.',
    '请求体或该行不是 JSON 对象；或批次以 `[` 开头但不是合法的 JSON 数组，`errors` 指出位置。',
  ],
  EMPTY_BATCH: [
    'The batch has only empty lines, or is an empty array.',
    '批次没有任何非空行，或数组没有元素。',
  ],
  TOO_MANY_LINES: [
    'The batch has more than 1,000 lines (BATCH_MAX_ITEMS): no line was applied.',
    '批次超过 1,000 行（BATCH_MAX_ITEMS），全部未执行。',
  ],
  MALFORMED_REQUEST: ['The request is not valid HTTP.', '收到的不是合法的 HTTP 请求。'],
  BODY_INCOMPLETE: ['The body ended early.', '请求体提前结束。'],
  VALIDATION_FAILED: [
    'Fields are invalid; `errors` names the problems.',
    '字段有误，errors 列出问题。',
  ],
  UNKNOWN_USER: [
    'A party, or the initiator of a draft, is not an enabled user of the portal. `errors` names the users.',
    '参与人或草稿发起人不是门户的启用用户，errors 列出这些用户。',
  ],
  EXTERNAL_ID_RESERVED: [
    'Only the service assigns ids that start with auto:.',
    '以 auto: 开头的编号只能由服务分配。',
  ],
  TOO_MANY_PARTIES: [
    'The existing and new parties of the matter together exceed 500.',
    '与已有参与人合并后将超过 500 个。',
  ],
  MATTER_NOT_FOUND: ['There is no such matter.', '没有该事项。'],
  MATTER_DELETED: [
    'The matter is deleted; an upsert revives it.',
    '事项已删除，可用 upsert 恢复。',
  ],
  PUSH_NOT_FOUND: [
    'Only for push-logs/resend: the push log has no signed push of this client with this requestId.',
    '仅用于 push-logs/resend：该 client 没有此 requestId 的已签名推送，或其日志已过期。',
  ],
  RESOLVED_SINCE: [
    'Only for push-logs/resend: a later push with the same matter or idempotency key took effect. A resend would undo the later push.',
    '仅用于 push-logs/resend：同一事项或幂等键之后的推送已生效，重发会将其覆盖。',
  ],
  BODY_NOT_STORED: [
    'Only for push-logs/resend: the body has expired (PUSH_BODY_RETENTION), or was too large to be stored.',
    '仅用于 push-logs/resend：请求体已过期（PUSH_BODY_RETENTION）或过大而未保存。',
  ],
  STILL_QUEUED: [
    'Only for push-logs/resend: this push or another push of the same matter has no final state yet.',
    '仅用于 push-logs/resend：该推送或同一事项的其他推送尚无最终结果。',
  ],
  PATH_NOT_FOUND: ['There is no such path.', '没有该路径。'],
  METHOD_NOT_ALLOWED: [
    'The path does not support this method; the header Allow names the supported ones.',
    '该路径只接受 Allow 响应头列出的请求方法。',
  ],
  REQUEST_TIMEOUT: ['Headers or body took too long to arrive.', '请求头或请求体接收过慢。'],
  RATE_LIMITED: [
    'The client exceeds its rate limit. Wait for the number of seconds in Retry-After. The header RateLimit shows the remaining requests.',
    '超过 client 的速率限制，请按 Retry-After 等待；RateLimit 响应头说明剩余额度。',
  ],
  INTERNAL_ERROR: [
    'An unexpected error. Operators find the requestId in the log.',
    '意外错误，服务日志中可凭 requestId 查到。',
  ],
  OPERATION_FAILED: [
    'The matter cannot be written: it is too large, or someone changed it manually in the database.',
    '该事项无法写入：内容过大，或库中的事项被人工改动。',
  ],
  QUEUE_UNAVAILABLE: [
    'The queue does not answer, or an operator has paused it.',
    '队列没有响应，或已被人工暂停。',
  ],
  QUEUE_MEMORY_FULL: [
    'The memory of the queue is full. Pushes in the queue are still applied.',
    '队列内存已满：已排队的仍会生效，暂不接收新的推送。',
  ],
  DATABASE_UNAVAILABLE: [
    'The database does not answer, or rejects writes.',
    '数据库没有响应，或拒绝写入。',
  ],
  DATABASE_NOT_PREPARED: [
    'The release step has not prepared the database, or its indexes are missing: contact the operators of the service.',
    'release 步骤尚未准备数据库，或索引缺失，请联系服务的运维人员。',
  ],
  BACKLOG_FULL: [
    'At the current write rate the push would wait too long.',
    '按当前写入速度，排队时间将过长。',
  ],
  PARTITION_FULL: [
    'The partition of this matter has reached its limit of waiting pushes (PARTITION_LIMIT). If several clients share the partition, each client may use at most half of the limit.',
    '该事项所在分区的积压条数已达上限（PARTITION_LIMIT）。与其他 Client 共用分区时，单个 Client 最多占用一半。',
  ],
  PARTITION_BYTES_FULL: [
    'The partition of this matter has reached its limit of waiting bytes (PARTITION_BYTES). If several clients share the partition, each client may use at most half of the limit.',
    '该事项所在分区的积压数据量已达上限（PARTITION_BYTES）。与其他 Client 共用分区时，单个 Client 最多占用一半。',
  ],
  TOO_MANY_IN_FLIGHT: [
    'The process has reached its limit of concurrent requests (MAX_IN_FLIGHT).',
    '该进程同时处理的请求数已达上限（MAX_IN_FLIGHT）。',
  ],
  IN_FLIGHT_BYTES_FULL: [
    'The bodies of all concurrent requests in this process have reached 256 MiB.',
    '该进程同时处理的请求体合计已达 256 MiB。',
  ],
  TOO_MANY_QUERIES: [
    'This system, this client or all clients together have too many concurrent queries or resends.',
    '该系统、该 client 或全部 client 同时进行的查询或重发已达上限。',
  ],
  CLIENT_PAUSED: [
    'An operator has paused the pushes of this client; the message may contain the reason. Queries and already queued pushes are not affected.',
    '运维人员已暂停该 client 的推送，message 后可能附有原因。查询不受影响，此前已入队的推送仍会生效。',
  ],
  SKIPPED_AFTER_FAILURE: [
    'Only for lines of a batch: an earlier line of the same matter failed with an error that a retry can solve. To keep the order, this line was not applied. Send both lines again.',
    '仅用于批次中的行：同一事项较早的行因可重试的错误而失败，为保持顺序，本行未执行；请按原顺序一并重发。',
  ],
  SHUTTING_DOWN: ['This process is stopping.', '该进程正在停止。'],
  CONFIRMATION_TIMEOUT: [
    'The database has not confirmed the push in time (PUSH_TIMEOUT, 10 s by default). The push log shows the result. Retry with the same idempotency key and body.',
    '未在时限内确认落库（默认 10 秒，PUSH_TIMEOUT）：是否生效见推送日志；可用同一幂等键和请求体重试。',
  ],
};
