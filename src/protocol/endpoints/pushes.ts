/** Rows of the endpoint table (`protocol/endpoints.ts`) for pushes, batches and dry runs (contract 4 and 7). */
import type { OperationName } from '../../domain/operation';
import { BATCH_BODY_LIMIT, BATCH_MAX_ITEMS } from '../batch';
import type { Reason } from '../errors';
import * as examples from '../examples/pushes';
import type { Bilingual } from '../language';
import { BATCH, BATCH_PATH, pushPath, queryPath, VERIFY, VERIFY_BATCH } from '../paths';
import { BODY_LIMIT, type Endpoint, UPLOAD_TIMEOUT } from './endpoint';

interface PushRow {
  readonly id: string;
  readonly body: string;
  readonly title: Bilingual;
  readonly description: Bilingual;
  readonly rejections: readonly Reason[];
}

const PUSH_ROWS: Readonly<Record<OperationName, PushRow>> = {
  upsert: {
    id: 'upsertMatter',
    body: 'UpsertBody',
    title: ['Create or update a matter', '新建或更新事项'],
    description: [
      'A partial update: absent fields do not change; null clears a field. A deleted matter is revived with the same matterId. Outcomes: CREATED, UPDATED, REVIVED, STALE_IGNORED.',
      '部分更新：未传的字段保持不变，null 清空。已删除的事项以原 matterId 恢复。结果：CREATED、UPDATED、REVIVED、STALE_IGNORED。',
    ],
    rejections: ['UNKNOWN_USER', 'EXTERNAL_ID_RESERVED', 'TOO_MANY_PARTIES'],
  },
  status: {
    id: 'changeMatterStatus',
    body: 'StatusBody',
    title: ['Change the status of a matter', '更新事项状态'],
    description: [
      'Sets the fields of the body; every change of status is allowed. Outcomes: UPDATED, STALE_IGNORED.',
      '只更新传入的内容，不校验状态流转。结果：UPDATED、STALE_IGNORED。',
    ],
    rejections: ['MATTER_NOT_FOUND', 'MATTER_DELETED'],
  },
  reopen: {
    id: 'reopenMatter',
    body: 'ReopenBody',
    title: ['Reopen a matter', '重新打开事项'],
    description: [
      'Like a change of status, with the default status REOPENED. The matter becomes unread for its ASSIGNEEs. Outcomes: UPDATED, STALE_IGNORED.',
      '与更新状态相同，默认状态为 REOPENED，并将处理人重新置为未读。结果：UPDATED、STALE_IGNORED。',
    ],
    rejections: ['MATTER_NOT_FOUND', 'MATTER_DELETED'],
  },
  delete: {
    id: 'deleteMatter',
    body: 'DeleteBody',
    title: ['Delete a matter', '删除事项'],
    description: [
      'A soft delete. Deleting a deleted matter succeeds, so a retry is safe. Outcomes: DELETED, ALREADY_DELETED, STALE_IGNORED.',
      '软删除；重复删除也返回成功，可放心重试。结果：DELETED、ALREADY_DELETED、STALE_IGNORED。',
    ],
    rejections: ['MATTER_NOT_FOUND'],
  },
};

/** Reasons for rejections that all four operations have in common. */
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
  'The database has confirmed the push; `data.outcome` is its result.',
  '数据库已确认写入，data.outcome 说明处理结果。',
];

const PUSH_LIMIT = { bytes: BODY_LIMIT, setting: 'BODY_LIMIT' } as const;

export function pushEndpoint(name: OperationName): Endpoint<OperationName> {
  const { body, rejections, ...row } = PUSH_ROWS[name];
  const { NOTICE, NOTICE_ANSWER, PUSHES, PUSH_ANSWERS } = examples;
  const isUpsert = name === 'upsert';
  return {
    name,
    path: pushPath(name),
    document: { ...row, tag: 'push', rejections: [...REJECTIONS, ...rejections] },
    authentication: 'signature',
    rate: 'push',
    isKeyed: true,
    body: {
      schema: body,
      limit: PUSH_LIMIT,
      uploadTimeout: UPLOAD_TIMEOUT,
      examples: { [name]: PUSHES[name], ...(isUpsert && { notice: NOTICE }) },
    },
    timeout: 'PUSH_TIMEOUT',
    answer: {
      description: WRITTEN,
      schema: 'PushAnswer',
      examples: { [name]: PUSH_ANSWERS[name], ...(isUpsert && { notice: NOTICE_ANSWER }) },
      headers: ['Idempotency-Replayed'],
    },
  };
}

export const VERIFY_ENDPOINT: Endpoint<typeof VERIFY> = {
  name: VERIFY,
  path: queryPath(VERIFY),
  document: {
    id: 'verifyPush',
    tag: 'query',
    title: ['Verify a push (dry run)', '校验一次推送，不写入'],
    description: [
      'A dry run: signature, rate, body and users are checked as in a push, with the same errors. Nothing is written to the ledger or to the push log. The ledger is not checked: a dry run does not detect a missing matter, a stale push, too many parties in a matter, or an unassigned `auto:` id.',
      '试运行：签名、速率、请求体和用户的校验及错误与实际推送一致，但不写入台账和推送日志。不检查台账中的数据：事项是否存在、是否过期、已有参与人数、auto: 开头的编号是否已分配。',
    ],
    rejections: ['INVALID_JSON', 'UNKNOWN_USER'],
  },
  authentication: 'signature',
  rate: 'request',
  isKeyed: true,
  body: {
    schema: 'VerifyBody',
    limit: PUSH_LIMIT,
    uploadTimeout: UPLOAD_TIMEOUT,
    examples: { example: examples.VERIFICATION },
  },
  timeout: 'PUSH_TIMEOUT',
  answer: {
    description: ['The push is valid', '校验通过'],
    schema: 'VerifyAnswer',
    examples: { example: examples.VERIFIED },
  },
};

const MAX_LINES = BATCH_MAX_ITEMS.toLocaleString('en');
const LINES: Bilingual = [
  `NDJSON (one push per line, as in a file for matterctl push) or a JSON array of pushes; at most ${MAX_LINES} lines or elements. In each line, the field body is the body of a single push.`,
  `NDJSON：每行一次推送，与推送文件格式一致；也可以是由相同对象组成的 JSON 数组。最多 ${MAX_LINES} 行（元素）。每行的 body 与单独推送时的请求体相同。`,
];
/** If the body is not a valid batch, both batch endpoints reject the whole body for one of these reasons. */
const AS_A_WHOLE: readonly Reason[] = ['INVALID_JSON', 'EMPTY_BATCH', 'TOO_MANY_LINES'];
const SOME_FAILED: Bilingual = [
  'PARTIAL_FAILURE: some lines failed. `data` has a result for each line, as in a successful answer.',
  'PARTIAL_FAILURE：部分行失败，data 逐行说明，格式与全部成功时相同。',
];

const BATCH_BODY: Endpoint['body'] = {
  schema: 'BatchLine',
  lines: LINES,
  mayBeArray: true,
  limit: { bytes: BATCH_BODY_LIMIT, setting: 'BATCH_BODY_LIMIT' },
  uploadTimeout: 30_000,
  examples: { example: examples.BATCH_LINES },
};

export const BATCH_ENDPOINT: Endpoint<typeof BATCH> = {
  name: BATCH,
  path: BATCH_PATH,
  document: {
    id: 'pushBatch',
    tag: 'push',
    title: ['Push a batch', '批量推送'],
    description: [
      'Each line is a separate push with its own log entry, key and outcome. Lines of one matter take effect in their order. A failed line does not affect other lines, with one exception. If a line fails because a server is unavailable or the deadline passes, later lines of the same matter are skipped with SKIPPED_AFTER_FAILURE. If the batch has an X-Idempotency-Key, each line without a key gets the key `<key>/<line number>`. Then a retry of the whole batch is safe.',
      '每一行都是一次独立的推送，有各自的推送日志、幂等键和结果。同一事项的各行按顺序生效。某行失败不影响其他行；但同一事项前面的行因服务不可用或超时失败时，后面的行不会执行，返回 SKIPPED_AFTER_FAILURE。批次的 X-Idempotency-Key 会为没有键的行生成“键/行号”，因此整个批次可以放心重发。',
    ],
    rejections: [...AS_A_WHOLE, 'SCOPE_NOT_ALLOWED', 'BACKLOG_FULL', 'CLIENT_PAUSED'],
  },
  authentication: 'signature',
  rate: 'push',
  isKeyed: true,
  body: BATCH_BODY,
  timeout: 'BATCH_TIMEOUT',
  answer: {
    description: ['The database has confirmed every line.', '数据库已确认每一行写入。'],
    schema: 'BatchAnswer',
    examples: { batch: examples.BATCH_ANSWER },
    partial: { description: SOME_FAILED, kind: 'retryable' },
  },
};

export const VERIFY_BATCH_ENDPOINT: Endpoint<typeof VERIFY_BATCH> = {
  name: VERIFY_BATCH,
  path: queryPath(VERIFY_BATCH),
  document: {
    id: 'verifyBatch',
    tag: 'query',
    title: ['Verify a batch (dry run)', '校验一个批次，不写入'],
    description: [
      'A dry run of a batch: each line is checked as in a push, and nothing is written.',
      '批量推送的试运行：逐行按实际推送校验，不写入任何数据。',
    ],
    rejections: AS_A_WHOLE,
  },
  authentication: 'signature',
  rate: 'lines',
  isKeyed: true,
  body: BATCH_BODY,
  timeout: 'PUSH_TIMEOUT',
  answer: {
    description: ['Every line is valid.', '每一行均可通过校验。'],
    schema: 'VerifyBatchAnswer',
    examples: { batch: examples.VERIFY_BATCH_ANSWER },
    partial: { description: SOME_FAILED, kind: 'final' },
  },
};
