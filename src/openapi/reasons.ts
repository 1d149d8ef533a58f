/** The catalogue of errors, as the document tells it: a table, and an answer for each reason. */

import { bilingual } from '../protocol/bilingual';
import { errorEnvelope } from '../protocol/envelope';
import {
  ALL_REASONS,
  matterNotFound,
  type Problem,
  PushError,
  type Reason,
} from '../protocol/errors';
import { MOMENT, REQUEST_ID } from './examples/moment';
import type { Json } from './json-schema';
import { REASON_DESCRIPTIONS } from './reason-descriptions';

/** The reason as it is answered; where the message names a matter, one of these parts. */
export function rejection(reason: Reason, errors?: readonly Problem[]): PushError {
  const isMatter = reason === 'MATTER_NOT_FOUND' || reason === 'MATTER_DELETED';
  if (isMatter) return matterNotFound(reason, '{systemCode}', '{externalId}');
  return new PushError(reason, errors && { errors });
}

/** What `errors` names, of the reasons that have it. */
const PROBLEMS: Partial<Record<Reason, readonly Problem[]>> = {
  VALIDATION_FAILED: [
    { field: 'title', message: '不能为空' },
    { field: 'externalId', message: 'matterType 为 TODO 时必填' },
  ],
  UNKNOWN_USER: [{ field: 'parties[0].username', message: '用户不存在或已停用: han.mei' }],
  EXTERNAL_ID_RESERVED: [{ field: 'externalId', message: 'externalId 不能以 auto: 开头' }],
  TOO_MANY_PARTIES: [{ field: 'parties', message: '参与人超过 500 个' }],
};

/** They stand beside the results of a batch, or in one of them: see `PartialAnswer`. */
const OF_BATCHES: readonly Reason[] = ['PARTIAL_FAILURE', 'SKIPPED_AFTER_FAILURE'];

/** Those that an operation of the document may reject a request for. */
export const TOLD_REASONS = ALL_REASONS.filter((reason) => !OF_BATCHES.includes(reason));

/** Examples by reason, for `components`. */
export function reasonExamples(): Record<string, Json> {
  const entries = TOLD_REASONS.map((reason) => {
    const value = errorEnvelope(rejection(reason, PROBLEMS[reason]), REQUEST_ID, MOMENT);
    return [
      reason,
      { summary: reason, description: bilingual(REASON_DESCRIPTIONS[reason]), value },
    ];
  });
  return Object.fromEntries(entries);
}

/** All reasons in Markdown; a test compares it with src/protocol/errors.ts. */
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
