/** Builds the table of reasons and the examples of rejections for the OpenAPI document. */

import { errorEnvelope } from '../protocol/envelope';
import {
  ALL_REASONS,
  matterNotFound,
  type Problem,
  PushError,
  type Reason,
} from '../protocol/errors';
import { EXAMPLE_REQUEST_ID, EXAMPLE_TIME } from '../protocol/examples/request';
import { bilingual } from '../protocol/language';
import type { JsonValue } from './json-schema';
import { REASON_DESCRIPTIONS } from './reason-descriptions';

export function rejection(reason: Reason, errors?: readonly Problem[]): PushError {
  const isMatter = reason === 'MATTER_NOT_FOUND' || reason === 'MATTER_DELETED';
  if (isMatter) return matterNotFound(reason, '{systemCode}', '{externalId}');
  return new PushError(reason, errors && { errors });
}

const PROBLEMS: Partial<Record<Reason, readonly Problem[]>> = {
  VALIDATION_FAILED: [
    { field: 'title', message: '不能为空' },
    { field: 'externalId', message: 'matterType 为 TODO 时必填' },
  ],
  UNKNOWN_USER: [{ field: 'parties[0].username', message: '用户不存在或已停用: han.mei' }],
  EXTERNAL_ID_RESERVED: [{ field: 'externalId', message: 'externalId 不能以 auto: 开头' }],
  TOO_MANY_PARTIES: [{ field: 'parties', message: '参与人超过 500 个' }],
};

/** Reasons that occur only in answers with the code 207. */
const OF_BATCHES: readonly Reason[] = [
  'PARTIAL_FAILURE',
  'SKIPPED_AFTER_FAILURE',
  'PUSH_NOT_FOUND',
  'RESOLVED_SINCE',
  'BODY_NOT_STORED',
  'STILL_QUEUED',
];

export const REJECTION_REASONS = ALL_REASONS.filter((reason) => !OF_BATCHES.includes(reason));

export function reasonExamples(): Record<string, JsonValue> {
  const entries = REJECTION_REASONS.map((reason) => {
    const value = errorEnvelope(
      rejection(reason, PROBLEMS[reason]),
      EXAMPLE_REQUEST_ID,
      EXAMPLE_TIME,
    );
    return [
      reason,
      { summary: reason, description: bilingual(REASON_DESCRIPTIONS[reason]), value },
    ];
  });
  return Object.fromEntries(entries);
}

export function reasonTable(): string {
  const rows = ALL_REASONS.map((reason) => {
    const { code, message, retryable } = rejection(reason);
    const [english, chinese] = REASON_DESCRIPTIONS[reason];
    const cells = [code, `\`${reason}\``, message, retryable ? 'yes' : 'no', english, chinese];
    return `| ${cells.join(' | ')} |`;
  });
  const head = '| code | reason | message | retryable | when | 何时 |';
  return [head, '|---|---|---|---|---|---|', ...rows].join('\n');
}
