/** The four pushes (specification 4.1-4.4). */

import { OPERATIONS, type OperationName } from '../../domain/operation';
import type { Bilingual } from '../../protocol/bilingual';
import type { Reason } from '../../protocol/errors';
import { pushPath } from '../../protocol/paths';
import { NOTICE, NOTICE_ANSWER, PUSH_ANSWERS, PUSHES } from '../examples/pushes';
import { KEYED } from '../headers';
import { type Json, schemaRef } from '../json-schema';
import type { BodyName } from '../request-schemas';
import { admitted, success } from '../responses';
import { BODY_LIMIT, bodyOf, signedOperation } from './signed';

interface PushOperation {
  readonly id: string;
  readonly body: BodyName;
  readonly title: Bilingual;
  readonly about: Bilingual;
  readonly rejections: readonly Reason[];
}

const PUSH_OPERATIONS: Readonly<Record<OperationName, PushOperation>> = {
  upsert: {
    id: 'upsertMatter',
    body: 'UpsertBody',
    title: ['Create or update a matter', '新建或更新事项'],
    about: [
      'A patch: a field that is absent stays as it is, null clears it. A deleted matter is revived under the same matterId. Outcomes: CREATED, UPDATED, REVIVED, STALE_IGNORED.',
      '部分更新：未传的字段保持不变，null 清空。已删除的事项以原 matterId 恢复。结果：CREATED、UPDATED、REVIVED、STALE_IGNORED。',
    ],
    rejections: ['UNKNOWN_USER', 'EXTERNAL_ID_RESERVED', 'TOO_MANY_PARTIES'],
  },
  status: {
    id: 'changeMatterStatus',
    body: 'StatusBody',
    title: ['Change the status of a matter', '更新事项状态'],
    about: [
      'Sets what is given; no transition is forbidden. Outcomes: UPDATED, STALE_IGNORED.',
      '只更新传入的内容，不校验状态流转。结果：UPDATED、STALE_IGNORED。',
    ],
    rejections: ['MATTER_NOT_FOUND', 'MATTER_DELETED'],
  },
  reopen: {
    id: 'reopenMatter',
    body: 'ReopenBody',
    title: ['Reopen a matter', '重新打开事项'],
    about: [
      'Like a status, with REOPENED as its default, and unread again for those who handle it. Outcomes: UPDATED, STALE_IGNORED.',
      '与更新状态相同，默认状态为 REOPENED，并将处理人重新置为未读。结果：UPDATED、STALE_IGNORED。',
    ],
    rejections: ['MATTER_NOT_FOUND', 'MATTER_DELETED'],
  },
  delete: {
    id: 'deleteMatter',
    body: 'DeleteBody',
    title: ['Delete a matter', '删除事项'],
    about: [
      'A soft delete. Deleting it again is a success, so that a retry is safe. Outcomes: DELETED, ALREADY_DELETED, STALE_IGNORED.',
      '软删除；重复删除也返回成功，可放心重试。结果：DELETED、ALREADY_DELETED、STALE_IGNORED。',
    ],
    rejections: ['MATTER_NOT_FOUND'],
  },
};

/** What every push may be rejected for. */
const REJECTIONS: readonly Reason[] = [
  'INVALID_JSON',
  'SCOPE_NOT_ALLOWED',
  'OPERATION_FAILED',
  'BACKLOG_FULL',
  'PARTITION_FULL',
  'PARTITION_BYTES_FULL',
  'CLIENT_PAUSED',
  'CONFIRMATION_TIMEOUT',
];
const WRITTEN: Bilingual = [
  'The database has confirmed it; `data.outcome` says what became of it.',
  '数据库已确认写入，data.outcome 说明处理结果。',
];

export function pushPaths(): Record<string, Json> {
  return Object.fromEntries(OPERATIONS.map((name) => [pushPath(name), pushOf(name)]));
}

function pushOf(name: OperationName): Json {
  const { body, rejections, ...operation } = PUSH_OPERATIONS[name];
  const isUpsert = name === 'upsert';
  const asked = { [name]: { value: PUSHES[name] }, ...(isUpsert && { notice: { value: NOTICE } }) };
  const answered = { [name]: PUSH_ANSWERS[name], ...(isUpsert && { notice: NOTICE_ANSWER }) };
  const content = { 'application/json': { schema: schemaRef(body), examples: asked } };
  return signedOperation({
    ...operation,
    tag: 'push',
    parameters: KEYED,
    requestBody: bodyOf(content, BODY_LIMIT, 'BODY_LIMIT'),
    success: admitted(WRITTEN, success('PushAnswer', answered), ['Idempotency-Replayed']),
    rejections: [...REJECTIONS, ...rejections],
  });
}
