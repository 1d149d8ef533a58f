/** The error reasons (contract 3.2 and 8). */
import type { Text } from './language';

interface ReasonText {
  /** `code` in the answer, and the HTTP status. With HTTP_STATUS_MODE=always-200, signed endpoints return 200. */
  readonly code: number;
  readonly text: Text;
  /** Whether the caller should send the same body again, with a new timestamp and signature. */
  readonly retryable: boolean;
}

const final = (code: number, zh: string, en: string): ReasonText => ({
  code,
  text: { zh, en },
  retryable: false,
});
const retryable = (code: number, zh: string, en: string): ReasonText => ({
  code,
  text: { zh, en },
  retryable: true,
});

export const REASONS = {
  PARTIAL_FAILURE: retryable(207, '部分推送失败', 'some pushes of the batch failed'),
  HEADERS_TOO_LARGE: final(431, '请求头过大', 'the request head is too large'),
  BODY_TOO_LARGE: final(413, '请求体过大', 'the body is too large'),
  UNSUPPORTED_ENCODING: final(
    415,
    '不支持的 Content-Encoding',
    'this Content-Encoding is not supported',
  ),
  HMAC_HEADERS_MISSING: final(401, '缺少 HMAC 鉴权头', 'HMAC authentication headers are missing'),
  TIMESTAMP_OUT_OF_WINDOW: final(
    401,
    'X-Timestamp 超出允许时间窗',
    'X-Timestamp is outside the accepted window',
  ),
  SIGNATURE_MISMATCH: final(401, 'HMAC 签名校验失败', 'the HMAC signature does not match'),
  // Retryable, because two valid requests in the same second can have the same signature.
  SIGNATURE_REUSED: retryable(
    401,
    '签名已用于其他请求，请重新签名',
    'the signature was used for another request; sign again',
  ),
  NO_USABLE_SECRET: final(
    403,
    'Client 无可用 client_secret',
    'the client has no usable client_secret',
  ),
  CLIENT_DISABLED: final(403, 'Client 已停用', 'the client is disabled'),
  NO_SYSTEM_CODE: final(403, 'Client 未绑定 system_code', 'the client is bound to no system_code'),
  SCOPE_NOT_ALLOWED: final(403, '密钥无推送权限', 'this key may not push'),
  INVALID_ENCODING: final(400, '请求体不是合法的 UTF-8', 'the body is not valid UTF-8'),
  INVALID_JSON: final(400, '请求体不是合法的 JSON 对象', 'the body is not a valid JSON object'),
  EMPTY_BATCH: final(400, '批次中没有推送', 'the batch has no line'),
  TOO_MANY_LINES: final(413, '批次行数过多', 'the batch has too many lines'),
  MALFORMED_REQUEST: final(400, '不是合法的 HTTP 请求', 'this is not a valid HTTP request'),
  BODY_INCOMPLETE: retryable(400, '请求体未完整接收', 'the body did not arrive in full'),
  VALIDATION_FAILED: final(400, '请求参数校验失败', 'the request is not valid'),
  UNKNOWN_USER: final(400, '用户不存在或已停用', 'a user does not exist or is disabled'),
  EXTERNAL_ID_RESERVED: final(
    400,
    'externalId 不能以 auto: 开头',
    'externalId must not start with auto:',
  ),
  TOO_MANY_PARTIES: final(400, '参与人超过 500 个', 'there are more than 500 parties'),
  MATTER_NOT_FOUND: final(404, '事项不存在', 'the matter does not exist'),
  MATTER_DELETED: final(404, '事项不存在', 'the matter does not exist'),
  PUSH_NOT_FOUND: final(
    404,
    '没有可重发的该次推送',
    'not sent: the log has no such push of this client',
  ),
  PATH_NOT_FOUND: final(404, '接口不存在', 'there is no such endpoint'),
  METHOD_NOT_ALLOWED: final(405, '不支持的请求方法', 'this method is not supported here'),
  RESOLVED_SINCE: final(
    409,
    '之后的推送已生效，未重发',
    'not sent: a later push with the same matter or idempotency key took effect',
  ),
  BODY_NOT_STORED: final(
    409,
    '请求体已不再保存，无法重发',
    'not sent: the body is no longer stored',
  ),
  STILL_QUEUED: retryable(
    409,
    '该推送或同一事项之后的推送仍在处理中，请稍后重试',
    'not sent: this push or a later push of the same matter is not settled yet; try again later',
  ),
  REQUEST_TIMEOUT: retryable(408, '请求接收超时', 'the request did not arrive in time'),
  RATE_LIMITED: retryable(429, '请求过于频繁，请稍后重试', 'too many requests; try again later'),
  INTERNAL_ERROR: retryable(500, '服务内部错误', 'internal error of the service'),
  OPERATION_FAILED: final(500, '事项写入失败', 'the matter could not be written'),
  QUEUE_UNAVAILABLE: retryable(
    503,
    '队列暂不可用，请稍后重试',
    'the queue is not available; try again later',
  ),
  QUEUE_MEMORY_FULL: retryable(
    503,
    '队列内存已满，请稍后重试',
    'the memory of the queue is full; try again later',
  ),
  DATABASE_UNAVAILABLE: retryable(
    503,
    '数据库暂不可用，请稍后重试',
    'the database is not available; try again later',
  ),
  DATABASE_NOT_PREPARED: retryable(
    503,
    '数据库尚未准备，请运维执行 release 步骤',
    'the database is not prepared: an operator must run the release step',
  ),
  BACKLOG_FULL: retryable(
    503,
    '积压过多，请稍后重试',
    'too many pushes are waiting; try again later',
  ),
  PARTITION_FULL: retryable(
    503,
    '所在分区积压条数已满，请稍后重试',
    'too many pushes wait in this part of the queue; try again later',
  ),
  PARTITION_BYTES_FULL: retryable(
    503,
    '所在分区积压数据量已满，请稍后重试',
    'too many bytes wait in this part of the queue; try again later',
  ),
  TOO_MANY_IN_FLIGHT: retryable(
    503,
    '同时处理的请求过多，请稍后重试',
    'too many requests are being handled; try again later',
  ),
  IN_FLIGHT_BYTES_FULL: retryable(
    503,
    '同时处理的请求体总量过大，请稍后重试',
    'the bodies of the current requests are too large in total; try again later',
  ),
  TOO_MANY_QUERIES: retryable(
    503,
    '同时进行的查询过多，请稍后重试',
    'too many queries are running; try again later',
  ),
  CLIENT_PAUSED: retryable(
    503,
    'Client 已暂停推送，请稍后重试',
    'pushes of the client are paused; try again later',
  ),
  SKIPPED_AFTER_FAILURE: retryable(
    503,
    '同一事项在本批次中较早的推送失败，本次未执行',
    'not applied: an earlier push of the same matter in this batch failed; send both again',
  ),
  SHUTTING_DOWN: retryable(
    503,
    '服务正在停止，请稍后重试',
    'the service is stopping; try again later',
  ),
  CONFIRMATION_TIMEOUT: retryable(
    504,
    '等待落库确认超时，结果可凭 requestId 查询推送日志',
    'not confirmed by the database in time; look up the requestId in the push log',
  ),
};

export type Reason = keyof typeof REASONS;

/** For a reason that this version does not know, for example from a worker of a newer version. */
export const UNKNOWN_REASON = retryable(500, '推送被拒绝，未生效', 'rejected, without an effect');

export function isReason(text: unknown): text is Reason {
  return typeof text === 'string' && Object.hasOwn(REASONS, text);
}

export const ALL_REASONS = Object.keys(REASONS) as readonly Reason[];

export const WRONG_SIGNATURE: readonly Reason[] = ['SIGNATURE_MISMATCH', 'TIMESTAMP_OUT_OF_WINDOW'];

/** An attacker without a secret can cause log entries with these reasons. */
export const UNAUTHENTICATED_REASONS: readonly Reason[] = [...WRONG_SIGNATURE, 'NO_USABLE_SECRET'];
