/** A batch of pushes: NDJSON with one push per line, or a JSON array of the same objects (contract 7). */
import { z } from 'zod';
import { OUTCOMES } from '../domain/decide';
import { OPERATIONS } from '../domain/operation';
import { type Answer, count, loggedRequestId, matterId } from './answer-shape';
import { type Envelope, helpFor } from './envelope';
import { PushError, type Reason } from './errors';
import { IDEMPOTENCY_KEY } from './headers';
import { describe, type Language } from './language';
import { MATTER } from './matter-view';
import type { bodySchemas } from './requests';
import { TEXTS, zodMessage } from './texts';
import { fieldError, warning } from './warnings';

/** Default of the setting BATCH_MAX_ITEMS, the maximum number of lines that are not empty. */
export const BATCH_MAX_ITEMS = 1_000;
/** Default of the setting BATCH_BODY_LIMIT, in bytes. */
export const BATCH_BODY_LIMIT = 8 * 1024 * 1024;

/** Maximum length of sent and derived idempotency keys. */
export const MAX_KEY_LENGTH = 255;

/** The schema of a line, without the fields of `body`. */
export const batchLine = z.object({
  op: z.enum(OPERATIONS),
  body: z.looseObject({}),
  key: z.string().regex(IDEMPOTENCY_KEY, zodMessage(TEXTS.idempotencyKey)).optional(),
});

/** The idempotency key of a line without `key`, if the batch has an idempotency key (contract 7.2). */
export const derivedKey = (batchKey: string, line: number) => `${batchKey}/${line}`;

/** The schema of a line with the fields of `body`, for the OpenAPI document. */
export const batchLineSchema = (pushes: ReturnType<typeof bodySchemas>) =>
  z
    .union(
      OPERATIONS.map((name) =>
        z.object({
          op: z.literal(name).meta(describe('The operation', '要执行的操作')),
          body: pushes[name].meta({
            ...describe('The body, as in a single push', '与单独推送时的请求体一致'),
            // Prevents a copy of the push body's `allOf` in the document.
            allOf: undefined,
          }),
          key: batchLine.shape.key.meta(
            describe(
              'The idempotency key of this push. Default: `<X-Idempotency-Key of the batch>/<line number>`; without this header, no key. Within a batch, each key may occur once per op.',
              '本行的幂等键；未填时为“批次的 X-Idempotency-Key/行号”（批次有该请求头时）。同一批次内同一操作的键不能重复。',
            ),
          ),
        }),
      ),
    )
    .meta(describe('One line of a batch: a push', '批次中的一行，即一次推送'));

const lineNumber = count().meta(
  describe(
    'Number of the line in the body, from 1. Empty lines are numbered too. In an array: the number of the element',
    '行号，从 1 开始，空行计入；数组为元素序号',
  ),
);

const lineFields = {
  line: lineNumber,
  code: z
    .int()
    .meta(
      describe(
        '0: the push succeeded, or is valid in a dry run. Other codes: as for a single push.',
        '0 表示已落库（试运行时表示有效）；其他值与该推送单独发送时的 code 一致。',
      ),
    ),
  message: z.string().meta(describe('Text for people', '供人阅读的说明')),
  reason: z
    .string()
    .optional()
    .meta(
      describe(
        'If the line failed: the reason, as in the table of reasons',
        '失败原因，见错误目录',
      ),
    ),
  retryable: z
    .boolean()
    .optional()
    .meta(
      describe(
        'If the line failed: whether the same line may succeed later',
        '失败时：同一行稍后重发是否可能成功',
      ),
    ),
  errors: z
    .array(fieldError)
    .optional()
    .meta(
      describe(
        'The first 20 problems of the line, or all unknown users. After 10,000 unknown users in a batch, each line lists only 20. Paths of fields are relative to `body`.',
        '该行的问题，最多列出前 20 个（未知用户全部列出，一批超过 10,000 个后每行也只列出 20 个），字段以 body 为准',
      ),
    ),
  warnings: z
    .array(warning)
    .optional()
    .meta(describe('Values that look wrong', '看起来有问题的内容')),
};

const externalId = z
  .string()
  .nullable()
  .meta(describe('externalId of the push; null if unknown', '涉及的事项，未知时为 null'));

export const batchResult = z
  .object({
    ...lineFields,
    requestId: loggedRequestId(),
    externalId,
    matterId: matterId().optional().meta(MATTER.matterId),
    outcome: z
      .enum(OUTCOMES)
      .optional()
      .meta(
        describe(
          'If the code is 0: the outcome, as for a single push',
          'code 为 0 时的处理结果，与单独推送一致',
        ),
      ),
    replayed: z
      .literal(true)
      .optional()
      .meta(
        describe(
          'This is the result of an earlier push with the same key and body',
          '返回的是同一幂等键、同一内容首次推送的结果',
        ),
      ),
  })
  .meta(describe('The result of one line', '一行的处理结果'));
export type BatchResult = Answer<typeof batchResult>;

export const totals = {
  total: count().meta(describe('Number of lines that are not empty', '非空行数')),
  succeeded: count().meta(describe('Number of lines with code 0', 'code 为 0 的行数')),
  failed: count().meta(describe('Number of lines with a code other than 0', '其余行数')),
};

/** `data` in the answer to a batch. */
export const batchData = z
  .object({
    ...totals,
    results: z.array(batchResult).meta(describe('In the order of the lines', '与各行顺序一致')),
  })
  .meta(describe('The result of each line of a batch', '批次逐行的处理结果'));
export type BatchData = Answer<typeof batchData>;

export const verifiedLine = z
  .object({ ...lineFields, externalId })
  .meta(describe('The result of the validation of one line', '一行的校验结果'));
export type VerifiedLine = Answer<typeof verifiedLine>;

/** `data` in the answer to the dry run of a batch. */
export const verifiedBatch = z
  .object({
    ...totals,
    results: z.array(verifiedLine).meta(describe('In the order of the lines', '与各行顺序一致')),
  })
  .meta(describe('The results of the validation of a batch', '批次逐行的校验结果'));
export type VerifiedBatch = Answer<typeof verifiedBatch>;

const PARTIAL_FAILURE: Reason = 'PARTIAL_FAILURE';

/**
 * The envelope of an answer in which at least one line failed.
 *
 * @param data BatchData, VerifiedBatch or ResendData
 * @param retryable whether at least one failed line can succeed in a retry
 */
export function partialEnvelope(
  data: unknown,
  retryable: boolean,
  requestId: string,
  now: number,
  language: Language,
): Envelope {
  const { code, text } = new PushError(PARTIAL_FAILURE);
  return {
    code,
    message: text[language],
    data,
    requestId,
    timestamp: new Date(now).toISOString(),
    reason: PARTIAL_FAILURE,
    retryable,
    help: helpFor(PARTIAL_FAILURE),
  };
}
