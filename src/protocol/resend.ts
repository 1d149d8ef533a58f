/** Body and answer of `push-logs/resend`. This endpoint sends logged pushes again (contract 7.5). */
import { z } from 'zod';
import { type Answer, requestId } from './answer-shape';
import { batchResult, totals } from './batch';
import { nullIsAbsent } from './fields';
import { describe } from './language';
import { bounded } from './query-body';
import { absentMeans } from './schema-rules';
import { TEXTS, zodMessage } from './texts';

export const MAX_RESENT = 100;

/** Maximum elements of `set` in one request. */
export const MAX_VALUES = 20;

const REQUEST_ID = /^[0-9a-f]{24}$/;
/** A field path. `[]` stands for every element of a list. A name begins with a letter, to exclude `__proto__`. */
const FIELD = /^[A-Za-z]\w*(\[\])?(\.[A-Za-z]\w*(\[\])?){0,3}$/;
/** `set` must not change the external id of a matter. */
const NOT_SETTABLE = 'externalId';

const fieldValue = z
  .strictObject({
    field: z
      .string()
      .max(128)
      .regex(FIELD, zodMessage(TEXTS.bodyField))
      .refine((field) => field.split(/[.[]/)[0] !== NOT_SETTABLE, zodMessage(TEXTS.setsMatter))
      .meta({
        ...describe(
          'Such as `title` or `parties[].username`. `externalId` cannot be set',
          '如 title 或 parties[].username；不能是 externalId',
        ),
        not: { const: NOT_SETTABLE },
      }),
    from: z
      .union([z.string(), z.number(), z.boolean()], zodMessage(TEXTS.scalar))
      .optional()
      .meta(
        describe(
          'The invalid value to replace or remove. If absent, the change applies to all invalid values of the field',
          '仅替换值为此值的无效字段；不传时替换所有无效的值',
        ),
      ),
    value: z.unknown().optional().meta(describe('The new value', '新值')),
    remove: z
      .literal(true)
      .optional()
      .meta(describe('Removes the field; `value` must be absent', '删除该字段，此时不传 value')),
  })
  .refine((set) => 'value' in set !== 'remove' in set, zodMessage(TEXTS.valueOrRemove))
  .meta({
    ...describe('Replaces or removes an invalid field', '无效字段的新值，或删除该字段'),
    oneOf: [{ required: ['value'] }, { required: ['remove'] }],
  });
export type FieldValue = z.output<typeof fieldValue>;

const fieldValues = bounded(fieldValue, MAX_VALUES).check(({ value: set, issues }) => {
  const seen = new Set<string>();
  for (const [index, { field, from }] of set.entries()) {
    const path = [index, from === undefined ? 'field' : 'from'];
    const message = zodMessage(TEXTS.repeated);
    const identity = JSON.stringify([field, from]);
    if (seen.has(identity)) issues.push({ code: 'custom', path, message, input: from ?? field });
    seen.add(identity);
  }
});

/** Rejects unknown fields, because the service must not ignore a misspelt `dryRun`. */
export const resendSchema = z
  .strictObject({
    requestIds: bounded(z.string().regex(REQUEST_ID, zodMessage(TEXTS.requestId)), MAX_RESENT).meta(
      describe(
        'The requestId of each push, in any order. Pushes of one matter are sent in the order of their first receipt. For the requestId of a resend, the service sends the body of the resend.',
        '各次推送的 requestId，顺序不限；同一事项的推送按最初收到的顺序重发。为重发的 requestId 时，使用该次重发的请求体',
      ),
    ),
    dryRun: nullIsAbsent(z.boolean()).meta({
      ...describe(
        'True: only returns the plan, and writes nothing',
        '为 true 时只返回计划，不写入',
      ),
      ...absentMeans(false),
    }),
    set: nullIsAbsent(fieldValues).meta(
      describe(
        'New values for invalid fields of the stored bodies. Valid fields do not change',
        '无效字段的新值：请求体中该字段无效时以此值重发，有效的字段保持不变',
      ),
    ),
  })
  .meta(describe('Logged pushes to send again', '要重发的推送'));

export const resendResult = batchResult
  .extend({
    line: batchResult.shape.line.meta(
      describe('Position in `requestIds`, from 1', '在 requestIds 中的位置，从 1 开始'),
    ),
    requestId: requestId().meta(
      describe(
        'If the push is sent again: the id of the new push. If a later push is queued or took effect: the id of the later push. Otherwise: the value of `resentFrom`.',
        '新的推送；未重发时为之后已生效的推送，没有时与 resentFrom 相同，试运行时也相同',
      ),
    ),
    resentFrom: requestId().meta(describe('The id in `requestIds`', '请求中给出的 requestId')),
    sent: z
      .boolean()
      .meta(
        describe(
          'If true, the service sends the push again (a dry run only plans the push). If false and `code` is 0, the push took effect earlier. If false and `code` is not 0, `reason` gives the cause.',
          '是否重发（试运行时为是否会重发）。未重发时，code 为 0 表示此前已生效，否则见 reason',
        ),
      ),
  })
  .meta(describe('The result for one request id', '一次重发的结果'));
export type ResendResult = Answer<typeof resendResult>;

export const resendData = z
  .object({
    ...totals,
    total: totals.total.meta(describe('Number of request ids', 'requestId 的数量')),
    results: z
      .array(resendResult)
      .meta(describe('In the order of `requestIds`', '与 requestIds 顺序一致')),
  })
  .meta(describe('The results of a resend', '各次重发的结果'));
export type ResendData = Answer<typeof resendData>;
