/** Many pushes in one request, and their dry run (decisions, "Batches"). */

import { BATCH_BODY_LIMIT, BATCH_MAX_ITEMS, partialEnvelope } from '../../protocol/batch';
import { type Bilingual, bilingual } from '../../protocol/bilingual';
import type { Reason } from '../../protocol/errors';
import { BATCH_PATH, queryPath, VERIFY_BATCH } from '../../protocol/paths';
import { BATCH_ANSWER, BATCH_LINES, PARTIAL_ANSWER, VERIFY_BATCH_ANSWER } from '../examples/batch';
import { MOMENT, REQUEST_ID } from '../examples/moment';
import { KEYED } from '../headers';
import { type Json, schemaRef } from '../json-schema';
import { admitted, success } from '../responses';
import { linesOf } from './lines';
import { bodyOf, signedOperation } from './signed';

const MOST = BATCH_MAX_ITEMS.toLocaleString('en');
const LINES: Bilingual = [
  `NDJSON: one push a line, as in a push file; at most ${MOST} lines. The body of a line is that of the push by itself.`,
  `NDJSON：每行一次推送，与推送文件格式一致；最多 ${MOST} 行。每行的 body 与单独推送时的请求体相同。`,
];
const ALL_WRITTEN: Bilingual = [
  'The database has confirmed every line.',
  '数据库已确认每一行写入。',
];
const ALL_PASS: Bilingual = ['Every line would be accepted.', '每一行均可通过校验。'];
const SOME_FAILED: Bilingual = [
  'PARTIAL_FAILURE: some lines failed. `data` tells of each, as where none did.',
  'PARTIAL_FAILURE：部分行失败，data 逐行说明，格式与全部成功时相同。',
];
const PARTIAL_EXAMPLE = partialEnvelope(PARTIAL_ANSWER, false, REQUEST_ID, MOMENT, 'zh');
const PARTIAL = {
  content: {
    'application/json': {
      schema: schemaRef('PartialAnswer'),
      examples: { partial: { value: PARTIAL_EXAMPLE } },
    },
  },
};
/** With the header of a push that is to be sent again later, where a line is. */
const mayBeRetried = (response: ReturnType<typeof admitted>) => ({
  ...response,
  headers: {
    ...response.headers,
    'Retry-After': {
      description: bilingual([
        'Where a line may succeed later: seconds to wait before those lines are sent again, the longest of them',
        '存在可重试的行时：重发这些行前应等待的秒数（取最长）',
      ]),
      schema: { type: 'integer', minimum: 1 },
    },
  },
});
/** Of all that a batch may be rejected for as a whole. */
const AS_A_WHOLE: readonly Reason[] = ['EMPTY_BATCH', 'TOO_MANY_LINES'];

export function batchPaths(): Record<string, Json> {
  const taken = linesOf(LINES, schemaRef('BatchLine'), BATCH_LINES);
  const common = {
    parameters: KEYED,
    requestBody: bodyOf(taken, BATCH_BODY_LIMIT, 'BATCH_BODY_LIMIT'),
  };
  return {
    [BATCH_PATH]: signedOperation({
      ...common,
      id: 'pushBatch',
      tag: 'push',
      title: ['Push a batch', '批量推送'],
      about: [
        'Each line is a push of its own, with its log entry, its key and its outcome. Lines of one matter take effect in their order. A line that fails touches no other one, but for a matter whose earlier line failed for want of a server or of time: its later lines are not applied and say SKIPPED_AFTER_FAILURE. The X-Idempotency-Key of the batch gives each line without a key of its own `<key>/<line number>`, so that the whole batch can be sent again.',
        '每一行都是一次独立的推送，有各自的推送日志、幂等键和结果。同一事项的各行按顺序生效。某行失败不影响其他行；但同一事项前面的行因服务不可用或超时失败时，后面的行不会执行，返回 SKIPPED_AFTER_FAILURE。批次的 X-Idempotency-Key 会为没有键的行生成“键/行号”，因此整个批次可以放心重发。',
      ],
      success: admitted(ALL_WRITTEN, success('BatchAnswer', { batch: BATCH_ANSWER })),
      more: { 207: mayBeRetried(admitted(SOME_FAILED, PARTIAL)) },
      rejections: [...AS_A_WHOLE, 'SCOPE_NOT_ALLOWED', 'BACKLOG_FULL', 'CLIENT_PAUSED'],
    }),
    [queryPath(VERIFY_BATCH)]: signedOperation({
      ...common,
      id: 'verifyBatch',
      tag: 'query',
      title: ['Verify a batch (dry run)', '校验一个批次，不写入'],
      about: [
        'A dry run of a batch: each line is checked as in a push, and nothing is written.',
        '批量推送的试运行：逐行按实际推送校验，不写入任何数据。',
      ],
      success: admitted(ALL_PASS, success('VerifyBatchAnswer', { batch: VERIFY_BATCH_ANSWER })),
      more: { 207: admitted(SOME_FAILED, PARTIAL) },
      rejections: AS_A_WHOLE,
    }),
  };
}
