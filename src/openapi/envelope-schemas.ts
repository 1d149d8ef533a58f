/** Schemas of the envelope: the JSON object around every result. */
import { z } from 'zod';
import { instant, loggedRequestId, type ShapeOf } from '../protocol/answer-shape';
import { batchData, verifiedBatch } from '../protocol/batch';
import type { Envelope } from '../protocol/envelope';
import { ALL_REASONS, PushError, type Reason } from '../protocol/errors';
import { describe } from '../protocol/language';
import { resendData } from '../protocol/resend';
import { fieldError, warning } from '../protocol/warnings';

/** Replaces the type `number`, which zod writes for a literal such as 0. */
const INTEGER = { type: 'integer' };
const CODE = describe(
  '0: success; the result of a push is in the database. Any other code equals the HTTP status, except with HTTP_STATUS_MODE=always-200.',
  '0 表示成功，推送的内容已落库；其他值同时也是 HTTP 状态码，除非服务以 HTTP_STATUS_MODE=always-200 运行。',
);
const MESSAGE = describe('Text for people', '供人阅读的说明');
const DATA = describe('The requested data; null in an error', '返回的数据；出错时为 null');

const commonFields = {
  requestId: loggedRequestId(),
  timestamp: instant().meta(
    describe('The time of the answer: ISO-8601 in UTC', '响应时间：ISO-8601，UTC'),
  ),
};

type Success = Omit<Envelope, 'reason' | 'retryable' | 'help' | 'errors' | 'warnings'>;

export const successSchemaOf = <T extends z.ZodType>(data: T) =>
  z.object({
    code: z.literal(0).meta({ ...INTEGER, ...CODE }),
    message: z.literal('success').meta(MESSAGE),
    data: data.meta(DATA),
    ...commonFields,
  } satisfies ShapeOf<Success>);

export const reasonSchema = (): z.ZodType<Reason> =>
  z
    .enum(ALL_REASONS)
    .meta(
      describe(
        'Stable reasons, explained in the table at the start of this document. New reasons may be added.',
        '稳定的错误原因，可能新增；说明见文档开头的表格。',
      ),
    );

const RETRYABLE = z
  .boolean()
  .meta(
    describe(
      'Whether a retry can succeed. A retry needs the same idempotency key and body, and a new signature',
      '同一请求稍后是否可能成功；重试时用同一幂等键和请求体重新签名',
    ),
  );
const HELP = z
  .string()
  .meta(
    describe(
      'Path of a page that explains the reason, relative to the service address.',
      '该原因的说明所在，相对于服务地址；签名失败时也说明如何凭 requestId 查出原因',
    ),
  );

export const partialAnswer = () =>
  z
    .object({
      code: z.literal(207).meta({ ...INTEGER, ...CODE }),
      message: z.string().meta(MESSAGE),
      data: z.union([batchData, verifiedBatch, resendData]).meta(DATA),
      ...commonFields,
      reason: z
        .literal('PARTIAL_FAILURE' satisfies Reason)
        .meta(describe('Some lines failed', '部分行失败')),
      retryable: RETRYABLE,
      help: HELP,
    } satisfies ShapeOf<Omit<Envelope, 'errors' | 'warnings'>>)
    .meta(
      describe(
        'The answer to a batch, a dry run or a resend with failed lines',
        '批次部分失败的响应',
      ),
    );

export function errorAnswer(reason: z.ZodType<Reason>) {
  const thrown = ALL_REASONS.filter((it) => it !== 'PARTIAL_FAILURE');
  const codes = [...new Set(thrown.map((it) => new PushError(it).code))].sort((a, b) => a - b);
  return z
    .object({
      code: z.literal(codes).meta({ ...INTEGER, ...CODE }),
      message: z.string().meta(MESSAGE),
      data: z.null().meta(DATA),
      ...commonFields,
      reason: reason.meta(
        describe('The stable reason, for programs', '稳定的错误原因，供程序判断'),
      ),
      retryable: RETRYABLE,
      help: HELP,
      errors: z
        .array(fieldError)
        .optional()
        .meta(describe('All problems of the request', '请求中的全部问题')),
      warnings: z
        .array(warning)
        .optional()
        .meta(
          describe(
            'Suspicious parts of a rejected body, such as a misspelt field name',
            '被拒绝的请求体中其他看起来有问题的内容，例如字段名拼写错误',
          ),
        ),
    } satisfies ShapeOf<Envelope>)
    .meta(describe('Every rejection and failure', '所有拒绝与失败的响应'));
}
