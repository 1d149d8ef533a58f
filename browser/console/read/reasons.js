/** The text of each reason, and the action that resolves it. Pure. */

/** @typedef {import('../kit/speech.js').Words} Words */
/** @typedef {'mend' | 'again' | 'ask' | 'anew'} Act fix the data; resend; contact the operators; push again from the source system */

/** @type {Readonly<Record<string, readonly [act: Act, english: string, chinese: string]>>} */
export const REASONS = {
  BODY_TOO_LARGE: ['mend', 'Body too large', '请求体过大'],
  HEADERS_TOO_LARGE: ['mend', 'Request headers too large', '请求头过大'],
  UNSUPPORTED_ENCODING: ['mend', 'Unsupported content encoding', '请求体编码方式不受支持'],
  HMAC_HEADERS_MISSING: ['anew', 'Signature headers missing', '缺少签名头'],
  TIMESTAMP_OUT_OF_WINDOW: ['anew', 'Wrong clock of the sender', '发送方时钟不准'],
  SIGNATURE_MISMATCH: ['anew', 'Wrong signature', '签名错误'],
  SIGNATURE_REUSED: ['anew', 'Signature used twice', '签名被重复使用'],
  NO_USABLE_SECRET: ['ask', 'Client without a usable secret', 'client 没有可用密钥'],
  CLIENT_DISABLED: ['ask', 'Client disabled', 'client 已停用'],
  NO_SYSTEM_CODE: ['ask', 'Client without a system', 'client 未绑定系统'],
  SCOPE_NOT_ALLOWED: ['ask', 'Key may not push', '密钥无推送权限'],
  INVALID_ENCODING: ['mend', 'Body not in UTF-8', '请求体不是 UTF-8'],
  INVALID_JSON: ['mend', 'Body not a JSON object', '请求体不是 JSON 对象'],
  MALFORMED_REQUEST: ['mend', 'Not a valid HTTP request', '不是合法的 HTTP 请求'],
  BODY_INCOMPLETE: ['again', 'Body incomplete', '请求体未完整接收'],
  VALIDATION_FAILED: ['mend', 'Invalid fields', '字段不符合要求'],
  UNKNOWN_USER: ['mend', 'Unknown or disabled user', '用户不存在或已停用'],
  EXTERNAL_ID_RESERVED: ['mend', 'Reserved ID (auto:)', '编号以 auto: 开头（保留）'],
  TOO_MANY_PARTIES: ['mend', 'More than 500 people', '参与人超过 500 个'],
  MATTER_NOT_FOUND: ['mend', 'Matter not found', '事项不存在'],
  MATTER_DELETED: ['mend', 'Matter deleted', '事项已删除'],
  PUSH_NOT_FOUND: ['anew', 'Push not found', '没有该次推送'],
  RESOLVED_SINCE: ['anew', 'Resolved since by a later push', '之后的推送已解决'],
  BODY_NOT_STORED: ['anew', 'Body no longer stored', '请求体已不再保存'],
  STILL_QUEUED: ['again', 'Still in progress', '仍在处理中'],
  PATH_NOT_FOUND: ['mend', 'Unknown path', '接口不存在'],
  METHOD_NOT_ALLOWED: ['mend', 'Wrong HTTP method', '请求方法不对'],
  REQUEST_TIMEOUT: ['again', 'Request arrived too slowly', '请求接收超时'],
  RATE_LIMITED: ['again', 'Rate limit exceeded', '超过速率限制'],
  INTERNAL_ERROR: ['again', 'Internal error of the service', '服务内部错误'],
  OPERATION_FAILED: ['ask', 'Matter cannot be saved', '该事项无法写入'],
  QUEUE_UNAVAILABLE: ['again', 'Queue unavailable', '队列不可用'],
  QUEUE_MEMORY_FULL: ['again', 'Queue memory full', '队列内存已满'],
  DATABASE_UNAVAILABLE: ['again', 'Database unavailable', '数据库不可用'],
  DATABASE_NOT_PREPARED: ['again', 'Database not prepared', '数据库尚未准备'],
  BACKLOG_FULL: ['again', 'Service overloaded', '服务积压过多'],
  PARTITION_FULL: ['again', 'Queue partition full', '分区积压已满'],
  PARTITION_BYTES_FULL: ['again', 'Queue partition full (bytes)', '分区积压数据量已满'],
  TOO_MANY_IN_FLIGHT: ['again', 'Too many requests at once', '同时处理的请求过多'],
  IN_FLIGHT_BYTES_FULL: ['again', 'Too many request bytes at once', '同时处理的请求体过大'],
  TOO_MANY_QUERIES: ['again', 'Too many queries at once', '同时进行的查询过多'],
  CLIENT_PAUSED: ['ask', 'Pushes paused by an operator', '推送已被运维人员暂停'],
  SHUTTING_DOWN: ['again', 'Service was stopping', '服务正在停止'],
  EMPTY_BATCH: ['mend', 'Batch without lines', '批次为空'],
  PARTIAL_FAILURE: ['mend', 'Some lines of the batch failed', '批次中部分推送失败'],
  SKIPPED_AFTER_FAILURE: [
    'again',
    'Skipped after an earlier failure of the matter',
    '同一事项的前一行失败，已跳过',
  ],
  TOO_MANY_LINES: ['mend', 'Batch with too many lines', '批次行数过多'],
  CONFIRMATION_TIMEOUT: ['again', 'Not confirmed in time', '未及时确认落库'],
};

/** An unknown reason of a newer service is shown by its name. @param {string} reason @returns {Words} */
export function reasonWords(reason) {
  const [, english, chinese] = REASONS[reason] ?? ['ask', reason, reason];
  return [english, chinese];
}

/** @param {string} reason @returns {Act} */
export const actFor = (reason) => REASONS[reason]?.[0] ?? 'ask';

/** Any sender that knows a client id can cause these reasons: they are not failures of the client. */
const BY_ANYBODY = ['SIGNATURE_MISMATCH', 'TIMESTAMP_OUT_OF_WINDOW', 'NO_USABLE_SECRET'];

/** @param {string} reason */
export const isByAnybody = (reason) => BY_ANYBODY.includes(reason);

export const OWN_REASONS = Object.keys(REASONS).filter((reason) => !isByAnybody(reason));
