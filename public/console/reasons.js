/** Reasons in plain words, and who has to do something about them. Pure. */

/** @typedef {import('./speech.js').Words} Words */
/** @typedef {'mend' | 'again' | 'ask' | 'anew'} Act mend the data; send again; ask the operator; the business system pushes anew */

/** @type {Readonly<Record<string, readonly [act: Act, english: string, chinese: string]>>} */
export const REASONS = {
  BODY_TOO_LARGE: ['mend', 'The body is too large', '请求体过大'],
  HEADERS_TOO_LARGE: ['mend', 'The request head is too large', '请求头过大'],
  UNSUPPORTED_ENCODING: [
    'mend',
    'Sent in an encoding that is not supported',
    '请求体编码方式不受支持',
  ],
  HMAC_HEADERS_MISSING: ['anew', 'Signing headers are missing', '缺少签名头'],
  TIMESTAMP_OUT_OF_WINDOW: ['anew', 'The clock of the sender is off', '发送方时钟不准'],
  SIGNATURE_MISMATCH: ['anew', 'The signature is wrong', '签名错误'],
  SIGNATURE_REUSED: ['anew', 'A signature was used twice', '签名被重复使用'],
  NO_USABLE_SECRET: ['ask', 'The client has no secret', 'client 没有可用密钥'],
  CLIENT_DISABLED: ['ask', 'The client is disabled', 'client 已停用'],
  NO_SYSTEM_CODE: ['ask', 'The client belongs to no system', 'client 未绑定系统'],
  SCOPE_NOT_ALLOWED: ['ask', 'The key may not push', '密钥无推送权限'],
  INVALID_ENCODING: ['mend', 'The body is not UTF-8', '请求体不是 UTF-8'],
  INVALID_JSON: ['mend', 'The body is not a JSON object', '请求体不是 JSON 对象'],
  MALFORMED_REQUEST: ['mend', 'What came is not HTTP', '不是合法的 HTTP 请求'],
  BODY_INCOMPLETE: ['again', 'The body ended early', '请求体未完整接收'],
  VALIDATION_FAILED: ['mend', 'Fields are wrong', '字段有误'],
  UNKNOWN_USER: ['mend', 'A user is unknown or disabled', '用户不存在或已停用'],
  EXTERNAL_ID_RESERVED: ['mend', 'The id begins with auto:', '编号以 auto: 开头'],
  TOO_MANY_PARTIES: ['mend', 'Over 500 parties', '参与人超过 500 个'],
  MATTER_NOT_FOUND: ['mend', 'There is no such matter', '事项不存在'],
  MATTER_DELETED: ['mend', 'The matter is deleted', '事项已删除'],
  PATH_NOT_FOUND: ['mend', 'There is no such path', '接口不存在'],
  METHOD_NOT_ALLOWED: ['mend', 'Not the right method', '请求方法不对'],
  REQUEST_TIMEOUT: ['again', 'The request arrived too slowly', '请求接收超时'],
  RATE_LIMITED: ['again', 'Over the rate', '超过速率限制'],
  INTERNAL_ERROR: ['again', 'An error inside the service', '服务内部错误'],
  OPERATION_FAILED: ['ask', 'It cannot be written', '该事项无法写入'],
  QUEUE_UNAVAILABLE: ['again', 'The queue was away', '队列不可用'],
  QUEUE_MEMORY_FULL: ['again', 'The queue was full', '队列内存已满'],
  DATABASE_UNAVAILABLE: ['again', 'The database was away', '数据库不可用'],
  DATABASE_NOT_PREPARED: ['again', 'The database was not prepared', '数据库尚未准备'],
  BACKLOG_FULL: ['again', 'Too much was waiting', '积压过多'],
  PARTITION_FULL: ['again', 'Too much was waiting', '分区积压已满'],
  PARTITION_BYTES_FULL: ['again', 'Too much was waiting', '分区积压数据量已满'],
  TOO_MANY_IN_FLIGHT: ['again', 'Too many requests at a time', '同时处理的请求过多'],
  IN_FLIGHT_BYTES_FULL: ['again', 'Too many requests at a time', '同时处理的请求体过大'],
  TOO_MANY_QUERIES: ['again', 'Too many queries at a time', '同时进行的查询过多'],
  CLIENT_PAUSED: ['ask', 'Pushes are paused', '推送已暂停'],
  SHUTTING_DOWN: ['again', 'The service was stopping', '服务正在停止'],
  EMPTY_BATCH: ['mend', 'The batch has no line', '批次为空'],
  PARTIAL_FAILURE: ['mend', 'Some lines of the batch failed', '批次中部分推送失败'],
  SKIPPED_AFTER_FAILURE: ['again', 'An earlier line of the matter failed', '同一事项的前一行失败'],
  TOO_MANY_LINES: ['mend', 'The batch has too many lines', '批次行数过多'],
  CONFIRMATION_TIMEOUT: ['again', 'Not confirmed in time', '未及时确认落库'],
};

/** Of a reason that a newer service gives it is the name. @param {string} reason @returns {Words} */
export function reasonWords(reason) {
  const [, english, chinese] = REASONS[reason] ?? ['ask', reason, reason];
  return [english, chinese];
}

/** @param {string} reason @returns {Act} */
export const actFor = (reason) => REASONS[reason]?.[0] ?? 'ask';

/** Who knows a client's id can cause them: they are not counted as failures of its own. */
const BY_ANYBODY = ['SIGNATURE_MISMATCH', 'TIMESTAMP_OUT_OF_WINDOW', 'NO_USABLE_SECRET'];

/** @param {string} reason */
export const isByAnybody = (reason) => BY_ANYBODY.includes(reason);

export const OWN_REASONS = Object.keys(REASONS).filter((reason) => !isByAnybody(reason));
