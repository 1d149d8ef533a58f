/** The envelope of every answer: around `data`, or around a rejection. */
import { z } from 'zod';
import { instant, loggedRequestId, type ShapeOf } from '../protocol/answer-shape';
import { batchData, verifiedBatch } from '../protocol/batch';
import { about } from '../protocol/bilingual';
import type { Envelope } from '../protocol/envelope';
import { ALL_REASONS, PushError, type Reason } from '../protocol/errors';
import { fieldError } from '../protocol/field-error';
import { warning } from '../protocol/warnings';

/** A literal is a number to zod, whatever number it is. */
const INTEGER = { type: 'integer' };
const CODE = about(
  '0: success; what was pushed is in the database. Otherwise also the HTTP status, unless the service runs with HTTP_STATUS_MODE=always-200.',
  '0 表示成功，推送的内容已落库；其他值同时也是 HTTP 状态码，除非服务以 HTTP_STATUS_MODE=always-200 运行。',
);
const MESSAGE = about('For people', '供人阅读的说明');
const DATA = about('What was asked for; null in an error', '返回的数据；出错时为 null');

const sent = {
  requestId: loggedRequestId(),
  timestamp: instant().meta(
    about('When it was answered: ISO-8601 in UTC', '响应时间：ISO-8601，UTC'),
  ),
};

type Success = Omit<Envelope, 'reason' | 'retryable' | 'help' | 'errors' | 'warnings'>;

/** @param data schema of what was asked for */
export const successOf = <T extends z.ZodType>(data: T) =>
  z.object({
    code: z.literal(0).meta({ ...INTEGER, ...CODE }),
    message: z.literal('success').meta(MESSAGE),
    data: data.meta(DATA),
    ...sent,
  } satisfies ShapeOf<Success>);

export const reasonSchema = (): z.ZodType<Reason> =>
  z
    .enum(ALL_REASONS)
    .meta(
      about(
        'Stable reasons; new ones may be added. The table at the head of the document explains them.',
        '稳定的错误原因，可能新增；说明见文档开头的表格。',
      ),
    );

const RETRYABLE = z
  .boolean()
  .meta(
    about(
      'Whether the same request may succeed later: sign it again, with the same key and body',
      '同一请求稍后是否可能成功；重试时用同一幂等键和请求体重新签名',
    ),
  );
const HELP = z
  .string()
  .meta(
    about(
      "Where the reason is explained, below the service's address; of a rejected signature also how to learn the cause by its requestId",
      '该原因的说明所在，相对于服务地址；签名失败时也说明如何凭 requestId 查出原因',
    ),
  );

/** Of a batch, or its dry run, of which some lines failed. */
export const partialAnswer = () =>
  z
    .object({
      code: z.literal(207).meta({ ...INTEGER, ...CODE }),
      message: z.string().meta(MESSAGE),
      data: z.union([batchData, verifiedBatch]).meta(DATA),
      ...sent,
      reason: z
        .literal('PARTIAL_FAILURE' satisfies Reason)
        .meta(about('Some lines failed', '部分行失败')),
      retryable: RETRYABLE,
      help: HELP,
    } satisfies ShapeOf<Omit<Envelope, 'errors' | 'warnings'>>)
    .meta(about('The answer to a batch of which some lines failed', '批次部分失败的响应'));

/** @param reason schema of all reasons */
export function errorAnswer(reason: z.ZodType<Reason>) {
  const thrown = ALL_REASONS.filter((it) => it !== 'PARTIAL_FAILURE');
  const codes = [...new Set(thrown.map((it) => new PushError(it).code))].sort((a, b) => a - b);
  return z
    .object({
      code: z.literal(codes).meta({ ...INTEGER, ...CODE }),
      message: z.string().meta(MESSAGE),
      data: z.null().meta(DATA),
      ...sent,
      reason: reason.meta(about('Stable: program against it', '稳定的错误原因，供程序判断')),
      retryable: RETRYABLE,
      help: HELP,
      errors: z
        .array(fieldError)
        .optional()
        .meta(about('Every problem of the request at once', '请求中的全部问题')),
      warnings: z
        .array(warning)
        .optional()
        .meta(
          about(
            'What looks wrong in a rejected body besides its errors: a misspelt field is why another one is missing',
            '被拒绝的请求体中其他看起来有问题的内容，例如字段名拼写错误',
          ),
        ),
    } satisfies ShapeOf<Envelope>)
    .meta(about('Every rejection and failure', '所有拒绝与失败的响应'));
}
