/** `data` in the answers to a single push (contract 2.4) and to the dry run of a push. */
import { z } from 'zod';
import { OUTCOMES } from '../domain/decide';
import { type Answer, matterId } from './answer-shape';
import { describe } from './language';
import { MATTER } from './matter-view';
import { warning } from './warnings';

export const pushData = z
  .object({
    matterId: matterId().meta(MATTER.matterId),
    externalId: z.string().meta(MATTER.externalId),
    outcome: z
      .enum(OUTCOMES)
      .meta(
        describe(
          'The result. CREATED, UPDATED, DELETED: the push was applied. REVIVED: an upsert restored a deleted matter. STALE_IGNORED: the push was older than the stored matter and changed nothing. ALREADY_DELETED: the matter was deleted before.',
          '处理结果。CREATED、UPDATED、DELETED 已生效；REVIVED 已删除的事项被 upsert 恢复；STALE_IGNORED 早于已保存的版本，未改变；ALREADY_DELETED 此前已删除。',
        ),
      ),
    warnings: z
      .array(warning)
      .optional()
      .meta(
        describe(
          'Accepted values that look wrong. At most 20 unknown fields are listed',
          '已接受但看起来有问题的内容；未知字段最多列出前 20 个',
        ),
      ),
  })
  .meta(describe('The result of a push', '推送结果'));
export type PushData = Answer<typeof pushData>;

export const verified = z
  .object({
    valid: z.literal(true).meta(describe('The push is valid', '校验通过')),
    externalId: z
      .string()
      .nullable()
      .meta(
        describe(
          'The external id of the matter; null if the push has no external id',
          '所属事项的业务主键；null 表示将由服务分配',
        ),
      ),
    warnings: z
      .array(warning)
      .meta(
        describe(
          'Accepted values that look wrong. At most 20 unknown fields are listed',
          '已接受但看起来有问题的内容；未知字段最多列出前 20 个',
        ),
      ),
  })
  .meta(describe('The result of the validation', '校验结果'));
export type Verified = Answer<typeof verified>;
