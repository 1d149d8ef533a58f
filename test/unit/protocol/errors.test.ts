/** Codes, messages and reasons are the contract, word for word (contract 3.2 and 8). */
import { errorEnvelope, successEnvelope } from '../../../src/protocol/envelope';
import { clientPaused, matterNotFound, PushError, type Reason } from '../../../src/protocol/errors';
import { NOW } from '../../support/builders';

test.each<[Reason, number, string, boolean]>([
  ['BODY_TOO_LARGE', 413, '请求体过大', false],
  ['UNSUPPORTED_ENCODING', 415, '不支持的 Content-Encoding', false],
  ['HMAC_HEADERS_MISSING', 401, '缺少 HMAC 鉴权头', false],
  ['TIMESTAMP_OUT_OF_WINDOW', 401, 'X-Timestamp 超出允许时间窗', false],
  ['SIGNATURE_MISMATCH', 401, 'HMAC 签名校验失败', false],
  ['NO_USABLE_SECRET', 403, 'Client 无可用 client_secret', false],
  ['CLIENT_DISABLED', 403, 'Client 已停用', false],
  ['NO_SYSTEM_CODE', 403, 'Client 未绑定 system_code', false],
])('%s is %i %s', (reason, code, message, retryable) => {
  expect(new PushError(reason)).toMatchObject({ code, message, retryable, reason });
});

test.each<[Reason, number, boolean]>([
  ['SIGNATURE_REUSED', 401, true],
  ['INVALID_ENCODING', 400, false],
  ['INVALID_JSON', 400, false],
  ['VALIDATION_FAILED', 400, false],
  ['UNKNOWN_USER', 400, false],
  ['RATE_LIMITED', 429, true],
  ['QUEUE_UNAVAILABLE', 503, true],
  ['DATABASE_UNAVAILABLE', 503, true],
  ['QUEUE_MEMORY_FULL', 503, true],
  ['BACKLOG_FULL', 503, true],
  ['PARTITION_FULL', 503, true],
  ['PARTITION_BYTES_FULL', 503, true],
  ['TOO_MANY_IN_FLIGHT', 503, true],
  ['IN_FLIGHT_BYTES_FULL', 503, true],
  ['TOO_MANY_QUERIES', 503, true],
  ['CLIENT_PAUSED', 503, true],
  ['CONFIRMATION_TIMEOUT', 504, true],
  ['INTERNAL_ERROR', 500, true],
])('%s is %i, and trying again helps: %s', (reason, code, retryable) => {
  expect(new PushError(reason)).toMatchObject({ code, retryable });
});

test('a reason of a newer version passes as it is: rejected, and may be tried again', () => {
  const unknown = new PushError('RULE_OF_TOMORROW' as Reason);
  expect(unknown).toMatchObject({ code: 500, reason: 'RULE_OF_TOMORROW', retryable: true });
  expect(unknown.message).toBe('推送被拒绝，未生效');
});

test.each(['', 'toString', 'a b', '<b>', 'X'.repeat(65), undefined, 7, null])(
  'what cannot be a reason (%p) is an INTERNAL_ERROR',
  (reason) => {
    const error = new PushError(reason as Reason);
    expect(error).toMatchObject({ code: 500, reason: 'INTERNAL_ERROR', retryable: true });
  },
);

test('a 503 says when to come back, a rate limit as it was computed', () => {
  expect(new PushError('BACKLOG_FULL').retryAfter).toBe(1);
  expect(new PushError('RATE_LIMITED', { retryAfter: 7 }).retryAfter).toBe(7);
  expect(new PushError('UNKNOWN_USER').retryAfter).toBeUndefined();
});

test('a paused client is told why, and to come back later than after other rejections', () => {
  const paused = { code: 503, reason: 'CLIENT_PAUSED', retryAfter: 30 };
  expect(clientPaused()).toMatchObject({ ...paused, message: 'Client 已暂停推送，请稍后重试' });
  const message = 'Client 已暂停推送，请稍后重试: 月末结账';
  expect(clientPaused('月末结账')).toMatchObject({ ...paused, message });
});

test.each(['MATTER_NOT_FOUND', 'MATTER_DELETED'] as const)('%s names system and id', (reason) => {
  expect(matterNotFound(reason, 'OA', 'A-1')).toMatchObject({
    code: 404,
    reason,
    message: '事项不存在: OA/A-1',
    retryable: false,
  });
});

test('the envelope of a success', () => {
  expect(successEnvelope({ a: 1 }, 'id', NOW)).toEqual({
    code: 0,
    message: 'success',
    data: { a: 1 },
    requestId: 'id',
    timestamp: '2024-06-01T00:00:00.000Z',
  });
});

test('the envelope of a failure adds reason, retryable and what is wrong with each field', () => {
  const errors = [{ field: 'title', message: 'm' }];
  const cause = new Error('hunter2');
  expect(errorEnvelope(new PushError('VALIDATION_FAILED', { errors, cause }), 'id', NOW)).toEqual({
    code: 400,
    message: '请求参数校验失败',
    data: null,
    requestId: 'id',
    timestamp: '2024-06-01T00:00:00.000Z',
    reason: 'VALIDATION_FAILED',
    retryable: false,
    help: '/docs#reason-VALIDATION_FAILED',
    errors,
  });
  expect(errorEnvelope(new PushError('INVALID_JSON'), 'id', NOW)).not.toHaveProperty('errors');
});
