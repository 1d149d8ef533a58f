/** When each error comes, and what to do about it. Code, message and retryable stand in src/protocol/errors.ts. */

import type { Bilingual } from '../protocol/bilingual';
import type { Reason } from '../protocol/errors';

export const REASON_DESCRIPTIONS: Readonly<Record<Reason, Bilingual>> = {
  PARTIAL_FAILURE: [
    'Some lines of a batch failed: `data.results` has an answer to each line. The others are in the database. Retryable: some of those that failed are.',
    '批次中部分推送失败，data.results 逐行给出结果，其余各行已落库。retryable 表示失败的行中有可重试的。',
  ],
  BODY_TOO_LARGE: ['The body is over the limit of the operation.', '请求体超过该接口的上限。'],
  HEADERS_TOO_LARGE: [
    'The request line and headers are over 16 KiB; cookies of a single sign-on are the usual cause. On the connection itself, like MALFORMED_REQUEST.',
    '请求行与请求头合计超过 16 KiB，常见原因是单点登录的 Cookie；与 MALFORMED_REQUEST 一样直接在连接上返回。',
  ],
  UNSUPPORTED_ENCODING: ['Content-Encoding is not identity.', 'Content-Encoding 不是 identity。'],
  HMAC_HEADERS_MISSING: [
    'One of the three signing headers is missing, empty or sent twice, perhaps taken away by a gateway.',
    '三个签名头之一缺失、为空或重复，可能被网关去掉。',
  ],
  TIMESTAMP_OUT_OF_WINDOW: [
    'X-Timestamp is more than 300 s off, or not 1 to 12 digits.',
    'X-Timestamp 偏差超过 300 秒，或不是 1 到 12 位数字。',
  ],
  SIGNATURE_MISMATCH: [
    'The signature is wrong, or there is no such client. Was the body written anew after signing, or an old secret used? push-logs/query with the requestId of the 401 names the cause (`diagnosis`), a second later, signed with code that works: the form of /docs does it.',
    '签名错误或 client 不存在。请检查签名后请求体是否被重新序列化，或是否使用了旧密钥。稍后用正确的签名以该 401 的 requestId 调用 push-logs/query，`diagnosis` 会指出原因；/docs 页面的表单可直接查询。',
  ],
  SIGNATURE_REUSED: [
    'More than SIGNATURE_GRACE (30 s) ago this signature was used on another path or with another idempotency key: sign again.',
    '该签名在 SIGNATURE_GRACE（30 秒）之前已用于其他路径或其他幂等键，请重新签名。',
  ],
  NO_USABLE_SECRET: ['The client is PUBLIC or has no secret.', 'client 为 PUBLIC 类型或没有密钥。'],
  CLIENT_DISABLED: ['The client is disabled.', 'client 已停用。'],
  NO_SYSTEM_CODE: ['The client has no system code.', 'client 未绑定系统编码。'],
  SCOPE_NOT_ALLOWED: [
    'A query key signed (`matterctl client console`), and it may ask but not push: sign with a secret of the client, or have a link made with --may-push.',
    '签名所用的是查询密钥（`matterctl client console`），只能查询、不能推送：请使用 client_secret 签名，或由运维人员以 --may-push 重新生成链接。',
  ],
  INVALID_ENCODING: ['The body is not UTF-8.', '请求体不是 UTF-8。'],
  INVALID_JSON: ['The body is not a JSON object.', '请求体不是 JSON 对象。'],
  EMPTY_BATCH: ['A batch has no line with something in it.', '批次没有任何非空行。'],
  TOO_MANY_LINES: [
    'A batch has more than 1,000 lines (BATCH_MAX_ITEMS): nothing of it was applied.',
    '批次超过 1,000 行（BATCH_MAX_ITEMS），全部未执行。',
  ],
  MALFORMED_REQUEST: ['What came is not HTTP.', '收到的不是合法的 HTTP 请求。'],
  BODY_INCOMPLETE: ['The body ended early.', '请求体提前结束。'],
  VALIDATION_FAILED: [
    'Fields are wrong; `errors` names all of them.',
    '字段有误，errors 列出全部问题。',
  ],
  UNKNOWN_USER: [
    'Parties, or the initiator of a draft, are no enabled users of the portal; `errors` names all of them.',
    '参与人或草稿发起人不是门户的启用用户，errors 列出全部。',
  ],
  EXTERNAL_ID_RESERVED: [
    'Only the service assigns ids that start with auto:.',
    '以 auto: 开头的编号只能由服务分配。',
  ],
  TOO_MANY_PARTIES: [
    'With those that are there already the list would be over 500.',
    '与已有参与人合并后将超过 500 个。',
  ],
  MATTER_NOT_FOUND: ['There is no such matter.', '没有该事项。'],
  MATTER_DELETED: [
    'The matter is deleted; an upsert revives it.',
    '事项已删除，可用 upsert 恢复。',
  ],
  PATH_NOT_FOUND: ['There is no such path.', '没有该路径。'],
  METHOD_NOT_ALLOWED: [
    'The path takes another method: Allow names it.',
    '该路径只接受 Allow 响应头列出的请求方法。',
  ],
  REQUEST_TIMEOUT: ['Headers or body took too long to arrive.', '请求头或请求体接收过慢。'],
  RATE_LIMITED: [
    'The client is over its rate: wait for Retry-After; RateLimit tells how much is left.',
    '超过 client 的速率限制，请按 Retry-After 等待；RateLimit 响应头说明剩余额度。',
  ],
  INTERNAL_ERROR: [
    'Unexpected; the log of the service has it under the requestId.',
    '意外错误，服务日志中可凭 requestId 查到。',
  ],
  OPERATION_FAILED: [
    'This document cannot be written: it is too large, or its matter was changed by hand.',
    '该事项无法写入：内容过大，或库中的事项被人工改动。',
  ],
  QUEUE_UNAVAILABLE: [
    'The queue does not answer, or somebody has paused it.',
    '队列没有响应，或已被人工暂停。',
  ],
  QUEUE_MEMORY_FULL: [
    'The memory of the queue is full: what waits is still applied, nothing new is taken.',
    '队列内存已满：已排队的仍会生效，暂不接收新的推送。',
  ],
  DATABASE_UNAVAILABLE: [
    'The database does not answer, or rejects writes.',
    '数据库没有响应，或拒绝写入。',
  ],
  DATABASE_NOT_PREPARED: [
    'The release step has not prepared the database, or its indexes are missing: tell the operators of the service.',
    'release 步骤尚未准备数据库，或索引缺失，请联系服务的运维人员。',
  ],
  BACKLOG_FULL: [
    'It would wait too long behind others, as fast as pushes are written now.',
    '按当前写入速度，排队时间将过长。',
  ],
  PARTITION_FULL: [
    'As many pushes as may be wait in the partition of this matter (PARTITION_LIMIT).',
    '该事项所在分区的积压条数已达上限（PARTITION_LIMIT）。',
  ],
  PARTITION_BYTES_FULL: [
    'As many bytes of pushes as may be wait in the partition of this matter (PARTITION_BYTES).',
    '该事项所在分区的积压数据量已达上限（PARTITION_BYTES）。',
  ],
  TOO_MANY_IN_FLIGHT: [
    'As many requests as may be are under way in this process (MAX_IN_FLIGHT).',
    '该进程同时处理的请求数已达上限（MAX_IN_FLIGHT）。',
  ],
  IN_FLIGHT_BYTES_FULL: [
    'The bodies of the requests under way in this process are 256 MiB together.',
    '该进程同时处理的请求体合计已达 256 MiB。',
  ],
  TOO_MANY_QUERIES: [
    'As many queries of this kind as may be are under way, of this system or in all.',
    '该系统或全部系统同时进行的此类查询已达上限。',
  ],
  CLIENT_PAUSED: [
    'An operator has paused the pushes of this client, perhaps with a reason after the message. Queries are answered; what was queued before is applied.',
    '运维人员已暂停该 client 的推送，message 后可能附有原因。查询不受影响，此前已入队的推送仍会生效。',
  ],
  SKIPPED_AFTER_FAILURE: [
    'Of a line of a batch: an earlier line of the same matter failed for want of a server or of time, and the lines of a matter take effect in their order or not at all. Send both again.',
    '仅用于批次中的行：同一事项较早的行因服务或时间原因失败，为保持顺序，本行未执行；请按原顺序一并重发。',
  ],
  SHUTTING_DOWN: ['This process drains.', '该进程正在停止。'],
  CONFIRMATION_TIMEOUT: [
    'Not confirmed in time (10 s unless PUSH_TIMEOUT says otherwise): the push log tells whether it took effect. Retry with the same key and body.',
    '未在时限内确认落库（默认 10 秒，PUSH_TIMEOUT）：是否生效见推送日志；可用同一幂等键和请求体重试。',
  ],
};
