/** `push-logs/resend`: logged pushes that are sent again (contract 7.5). */
import { z } from 'zod';
import { type Answer, requestId } from './answer-shape';
import { batchResult, totals } from './batch';
import { nullIsAbsent } from './fields';
import { about } from './language';
import { bounded } from './query-body';
import { absentMeans } from './schema-rules';
import { TEXTS, zodMessage } from './texts';

/** Maximum pushes of one request. */
export const MAX_RESENT = 100;

/** Values of one request. */
const MAX_VALUES = 20;

const REQUEST_ID = /^[0-9a-f]{24}$/;
/** A field of a body. `[]` stands for every element of a list. */
const FIELD = /^[A-Za-z_]\w*(\[\])?(\.[A-Za-z_]\w*(\[\])?)*$/;

const fieldValue = z
  .object({
    field: z
      .string()
      .max(128)
      .regex(FIELD, zodMessage(TEXTS.bodyField))
      .meta(about('Such as `title` or `parties[].username`', '如 title 或 parties[].username')),
    value: z
      .unknown()
      .optional()
      .meta(about('Without it, the field is removed', '不填时删除该字段')),
  })
  .meta(about('A value for an invalid field', '无效字段的新值'));
/** A value for an invalid field of stored bodies; without `value`, the field is removed. */
export type FieldValue = z.output<typeof fieldValue>;

export const resendSchema = z
  .object({
    requestIds: bounded(z.string().regex(REQUEST_ID, zodMessage(TEXTS.requestId)), MAX_RESENT).meta(
      about(
        'The requestId of each push, in any order. Pushes of one matter are sent in the order of their first receipt.',
        '各次推送的 requestId，顺序不限；同一事项的推送按最初收到的顺序重发',
      ),
    ),
    dryRun: nullIsAbsent(z.boolean()).meta({
      ...about('True: answers with the plan, and writes nothing', '为 true 时只返回计划，不写入'),
      ...absentMeans(false),
    }),
    set: nullIsAbsent(bounded(fieldValue, MAX_VALUES)).meta(
      about(
        'Values for invalid fields. A stored body in which the field is invalid is sent with this value; valid fields keep theirs',
        '无效字段的新值：请求体中该字段无效时以此值重发，有效的字段保持不变',
      ),
    ),
  })
  .meta(about('Logged pushes to send again', '要重发的推送'));

/** The result of one push. */
export const resendResult = batchResult
  .extend({
    line: batchResult.shape.line.meta(
      about('Position in `requestIds`, from 1', '在 requestIds 中的位置，从 1 开始'),
    ),
    requestId: requestId().meta(
      about(
        'The id of the new push. If no push is sent, as in a dry run: the id of the later push that took effect, otherwise the same as `resentFrom`.',
        '新的推送；未重发时为之后已生效的推送，没有时与 resentFrom 相同，试运行时也相同',
      ),
    ),
    resentFrom: requestId().meta(about('The id in `requestIds`', '请求中给出的 requestId')),
    sent: z
      .boolean()
      .meta(
        about(
          'Whether the push is sent again; in a dry run, whether it would be. If not, `code` 0 means that it took effect before; otherwise `reason` explains it.',
          '是否重发（试运行时为是否会重发）。未重发时，code 为 0 表示此前已生效，否则见 reason',
        ),
      ),
  })
  .meta(about('The result for one request id', '一次重发的结果'));
export type ResendResult = Answer<typeof resendResult>;

/** `data` of `push-logs/resend`. */
export const resendData = z
  .object({
    ...totals,
    total: totals.total.meta(about('Number of request ids', 'requestId 的数量')),
    results: z
      .array(resendResult)
      .meta(about('In the order of `requestIds`', '与 requestIds 顺序一致')),
  })
  .meta(about('The results of pushes that were sent again', '各次重发的结果'));
export type ResendData = Answer<typeof resendData>;
