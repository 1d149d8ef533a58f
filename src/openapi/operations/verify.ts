/** The dry run of a push. */

import type { Bilingual } from '../../protocol/bilingual';
import { queryPath, VERIFY } from '../../protocol/paths';
import { VERIFICATION, VERIFIED } from '../examples/pushes';
import { KEYED } from '../headers';
import { type Json, schemaRef } from '../json-schema';
import { admitted, success } from '../responses';
import { BODY_LIMIT, bodyOf, signedOperation } from './signed';

const PASSES: Bilingual = ['It would be accepted', '校验通过'];

export function verifyPath(): Record<string, Json> {
  const examples = { example: { value: VERIFICATION } };
  const content = { 'application/json': { schema: schemaRef('VerifyBody'), examples } };
  const operation = signedOperation({
    id: 'verifyPush',
    tag: 'query',
    title: ['Verify a push (dry run)', '校验一次推送，不写入'],
    about: [
      'A dry run: signature, rate, body and users are checked as in a push and rejected as in a push, and nothing is written, neither to the ledger nor to the push log. What the ledger holds is not looked at: whether the matter is there, what is stale, how many parties it has already, whose an id that starts with auto: is.',
      '试运行：签名、速率、请求体和用户的校验及错误与实际推送一致，但不写入台账和推送日志。不检查台账中的数据：事项是否存在、是否过期、已有参与人数、auto: 开头的编号是否已分配。',
    ],
    parameters: KEYED,
    requestBody: bodyOf(content, BODY_LIMIT, 'BODY_LIMIT'),
    success: admitted(PASSES, success('VerifyAnswer', { example: VERIFIED })),
    rejections: ['INVALID_JSON', 'UNKNOWN_USER'],
  });
  return { [queryPath(VERIFY)]: operation };
}
