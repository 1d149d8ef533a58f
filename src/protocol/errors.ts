/**
 * The one error type that callers of the service see, and the catalogue of its reasons.
 * Messages are part of the contract (specification 7; decisions, "Authentication: which code").
 */
import type { FieldError } from './field-error';
import { type Text, type Told, told } from './language';
import type { WarningInBoth } from './warnings';

interface ReasonText {
  /** The envelope's code, which is also the HTTP status. */
  readonly code: number;
  readonly text: Text;
  /** Whether the same request may succeed later. */
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

const REASONS = {
  // Not thrown: the code of a batch of which some lines failed, each with a reason of its own.
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
  // Retryable: two operations with the same body in the same second have the same signature too.
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
  PATH_NOT_FOUND: final(404, '接口不存在', 'there is no such endpoint'),
  METHOD_NOT_ALLOWED: final(405, '不支持的请求方法', 'this method is not supported here'),
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
    'the database is not prepared: the release step has to be run',
  ),
  BACKLOG_FULL: retryable(503, '积压过多，请稍后重试', 'too much is waiting; try again later'),
  PARTITION_FULL: retryable(
    503,
    '所在分区积压条数已满，请稍后重试',
    'too many pushes wait in this queue; try again later',
  ),
  PARTITION_BYTES_FULL: retryable(
    503,
    '所在分区积压数据量已满，请稍后重试',
    'too many bytes wait in this queue; try again later',
  ),
  TOO_MANY_IN_FLIGHT: retryable(
    503,
    '同时处理的请求过多，请稍后重试',
    'too many requests are being handled; try again later',
  ),
  IN_FLIGHT_BYTES_FULL: retryable(
    503,
    '同时处理的请求体总量过大，请稍后重试',
    'the bodies that are being handled are too large together; try again later',
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
    'not confirmed by the database in time; look the requestId up in the push log',
  ),
};

export type Reason = keyof typeof REASONS;

/**
 * What a newer version rejected a push for, which this one does not know. It had no effect, and a caller
 * who tries again loses nothing: it may then meet a process that knows.
 */
const OF_A_NEWER_VERSION = retryable(500, '推送被拒绝，未生效', 'rejected, without an effect');

/** Whether this version knows it: what stands in the log, or comes from a worker, may be newer. */
export function isReason(text: unknown): text is Reason {
  return typeof text === 'string' && Object.hasOwn(REASONS, text);
}

/** All of them, in the order of the catalogue. */
export const ALL_REASONS = Object.keys(REASONS) as readonly Reason[];

/** A field error before it is told, and in the log: in both languages. */
export interface Problem extends FieldError, Told {}

/** Problems that are named of a line of a batch, and of any push in the log: the first ones. */
export const MAX_PROBLEMS = 20;

export const problem = (field: string, text: Text): Problem => ({ field, ...told(text) });

/** How a client stands to its rate; becomes the RateLimit headers. */
export interface RateState {
  /** Pushes per second. */
  readonly rate: number;
  /** Pushes that it may send at once after a pause. */
  readonly burst: number;
  /** Pushes that it may send at once now. */
  readonly remaining: number;
}

export interface PushErrorDetail {
  readonly text?: Text;
  readonly errors?: readonly Problem[];
  /** What looks wrong besides; a misspelt field is why another one is missing. */
  readonly warnings?: readonly WarningInBoth[];
  /** Seconds; becomes Retry-After. */
  readonly retryAfter?: number;
  readonly rate?: RateState;
  readonly cause?: unknown;
}

/** A rejection that the caller is told about; anything else that is thrown is an opaque 500. */
export class PushError extends Error {
  override readonly name = 'PushError';
  /** The envelope's code, which is also the HTTP status. */
  readonly code: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** What its caller is told; `message` is the Chinese of it. */
  readonly text: Text;
  readonly errors: readonly Problem[] | undefined;
  readonly warnings: readonly WarningInBoth[];
  readonly retryAfter: number | undefined;
  readonly rate: RateState | undefined;

  readonly reason: Reason;

  /** @param given also one of a newer version; what cannot be a reason at all is an INTERNAL_ERROR */
  constructor(given: Reason, detail: PushErrorDetail = {}) {
    const reason = /^[A-Z][A-Z0-9_]{0,63}$/.test(given) ? given : 'INTERNAL_ERROR';
    const known = isReason(reason) ? REASONS[reason] : OF_A_NEWER_VERSION;
    const text = detail.text ?? known.text;
    super(text.zh, { cause: detail.cause });
    this.text = text;
    this.reason = reason;
    this.code = known.code;
    this.retryable = known.retryable;
    this.errors = detail.errors;
    this.warnings = detail.warnings ?? [];
    this.rate = detail.rate;
    this.retryAfter = detail.retryAfter ?? (known.code === 503 ? 1 : undefined);
  }
}

/** The answer to status, reopen and delete on a matter that is not there (specification 7). */
export function matterNotFound(
  reason: 'MATTER_NOT_FOUND' | 'MATTER_DELETED',
  systemCode: string,
  externalId: string,
): PushError {
  const matter = `${systemCode}/${externalId}`;
  const text = { zh: `事项不存在: ${matter}`, en: `the matter does not exist: ${matter}` };
  return new PushError(reason, { text });
}
