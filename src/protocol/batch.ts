/**
 * A batch: NDJSON, one push a line, in the form of a push file (decisions, "Batches"). Lines are numbered
 * from 1; empty ones count in the numbers and are no pushes. A byte order mark at the start, CRLF and a last
 * line without line feed are accepted.
 */
import { z } from 'zod';
import { OUTCOMES } from '../domain/decide';
import { OPERATIONS } from '../domain/operation';
import { type Answer, count, loggedRequestId, matterId } from './answer-shape';
import { about } from './bilingual';
import { type Envelope, helpFor } from './envelope';
import { PushError, type Reason } from './errors';
import { fieldError } from './field-error';
import { IDEMPOTENCY_KEY } from './headers';
import type { Language } from './language';
import { MATTER } from './matter-texts';
import type { bodySchemas } from './requests';
import { TEXTS } from './texts';
import { warning } from './warnings';
import { saying } from './zod-texts';

/** Defaults of BATCH_MAX_ITEMS, and of BATCH_BODY_LIMIT in bytes. */
export const BATCH_MAX_ITEMS = 1_000;
export const BATCH_BODY_LIMIT = 8 * 1024 * 1024;

/** Characters of a key, that of a line and one that is derived from the key of its batch. */
export const MAX_KEY = 255;

/** What goes before the body of a line: it is looked into like that of a single push. */
export const batchLine = z.object({
  op: z.enum(OPERATIONS),
  body: z.looseObject({}),
  key: z.string().regex(IDEMPOTENCY_KEY, saying(TEXTS.idempotencyKey)).optional(),
});

/**
 * The key of a line that has none of its own, where its batch has one.
 *
 * @param line its number, from 1
 */
export const derivedKey = (batchKey: string, line: number) => `${batchKey}/${line}`;

/** All of a line in one schema: what the OpenAPI document tells. */
export const batchLineSchema = (pushes: ReturnType<typeof bodySchemas>) =>
  z
    .union(
      OPERATIONS.map((name) =>
        z.object({
          op: z.literal(name).meta(about('What is done', '要执行的操作')),
          body: pushes[name].meta({
            ...about('As in a push of its own', '与单独推送时的请求体一致'),
            // Its rules stand with the body itself, which the document refers to.
            allOf: undefined,
          }),
          key: batchLine.shape.key.meta(
            about(
              'The idempotency key of this push. Without it `<X-Idempotency-Key of the batch>/<line number>`, where the batch has one. Once in a batch for each op.',
              '本行的幂等键；未填时为“批次的 X-Idempotency-Key/行号”（批次有该请求头时）。同一批次内同一操作的键不能重复。',
            ),
          ),
        }),
      ),
    )
    .meta(about('One line of a batch: a push', '批次中的一行，即一次推送'));

const lineNumber = count().meta(
  about('Its number in the body, from 1; empty lines count', '行号，从 1 开始，空行计入'),
);

const told = {
  line: lineNumber,
  code: z
    .int()
    .meta(
      about(
        '0: in the database. Else the code that the push would have got by itself.',
        '0 表示已落库；其他值与该推送单独发送时的 code 一致。',
      ),
    ),
  message: z.string().meta(about('For people', '供人阅读的说明')),
  reason: z
    .string()
    .optional()
    .meta(about('Where it failed: a reason of the catalogue', '失败原因，见错误目录')),
  retryable: z
    .boolean()
    .optional()
    .meta(
      about(
        'Where it failed: whether the same line may succeed later',
        '失败时：同一行稍后重发是否可能成功',
      ),
    ),
  errors: z
    .array(fieldError)
    .optional()
    .meta(
      about(
        'What is wrong with the line, the first 20, but all unknown users; fields are those of its body',
        '该行的问题，最多列出前 20 个（未知用户全部列出），字段以 body 为准',
      ),
    ),
  warnings: z.array(warning).optional().meta(about('What looks wrong in it', '看起来有问题的内容')),
};

const externalId = z
  .string()
  .nullable()
  .meta(about('The matter that it is about, as far as known', '涉及的事项，未知时为 null'));

/** What became of one line. */
export const batchResult = z
  .object({
    ...told,
    requestId: loggedRequestId(),
    externalId,
    matterId: matterId().optional().meta(MATTER.matterId),
    outcome: z
      .enum(OUTCOMES)
      .optional()
      .meta(
        about('Where its code is 0: as of a single push', 'code 为 0 时的处理结果，与单独推送一致'),
      ),
    replayed: z
      .literal(true)
      .optional()
      .meta(
        about(
          'It was answered with the outcome of an earlier push with this key and body',
          '返回的是同一幂等键、同一内容首次推送的结果',
        ),
      ),
  })
  .meta(about('What became of one line', '一行的处理结果'));
export type BatchResult = Answer<typeof batchResult>;

const totals = {
  total: count().meta(about('Lines with something in them', '非空行数')),
  succeeded: count().meta(about('Lines whose code is 0', 'code 为 0 的行数')),
  failed: count().meta(about('The others', '其余行数')),
};

/** `data` of a batch. */
export const batchData = z
  .object({
    ...totals,
    results: z.array(batchResult).meta(about('In the order of the lines', '与各行顺序一致')),
  })
  .meta(about('What became of each line of a batch', '批次逐行的处理结果'));
export type BatchData = Answer<typeof batchData>;

/** What was found of one line in a dry run. */
export const verifiedLine = z
  .object({ ...told, externalId })
  .meta(about('What was found of one line', '一行的校验结果'));
export type VerifiedLine = Answer<typeof verifiedLine>;

/** `data` of the dry run of a batch. */
export const verifiedBatch = z
  .object({
    ...totals,
    results: z.array(verifiedLine).meta(about('In the order of the lines', '与各行顺序一致')),
  })
  .meta(about('What was found of each line of a batch', '批次逐行的校验结果'));
export type VerifiedBatch = Answer<typeof verifiedBatch>;

const PARTIAL_FAILURE: Reason = 'PARTIAL_FAILURE';

/**
 * The envelope of a batch of which some lines failed, or would fail.
 *
 * @param data BatchData or VerifiedBatch
 * @param retryable whether one of them may succeed later
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
