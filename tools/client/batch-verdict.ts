/** Converts the answer to a batch into a verdict for each line. */
import { confirmsPush } from './confirmations';
import type { HttpAnswer } from './exchange';
import {
  either,
  type Guarded,
  isBoolean,
  isNull,
  isNumber,
  isString,
  listOf,
  objectOf,
  optional,
} from './guards';
import {
  type Answered,
  areProblems,
  envelopeOf,
  fromElsewhere,
  judge,
  parseJson,
  type Rejected,
  type RejectionFields,
  toMilliseconds,
  toRejected,
} from './verdict';

/** One rejection of the whole batch, or the verdict for each line, in order. */
export type BatchVerdict =
  | { readonly whole: Rejected; readonly lines?: undefined }
  | { readonly lines: readonly (Answered | Rejected)[]; readonly whole?: undefined };

const isResult = objectOf({
  line: isNumber,
  code: isNumber,
  message: optional(isString),
  reason: optional(isString),
  retryable: optional(isBoolean),
  requestId: optional(either(isString, isNull)),
  matterId: optional(isString),
  externalId: optional(either(isString, isNull)),
  outcome: optional(isString),
  replayed: optional(isBoolean),
  errors: optional(areProblems),
  warnings: optional(areProblems),
});
type Result = Guarded<typeof isResult>;
const isBatch = objectOf({
  /** 207: some lines were rejected. */
  code: (code): code is 0 | 207 => code === 0 || code === 207,
  data: objectOf({ results: listOf(isResult) }),
});

/** Converts a result with code 0. @returns undefined if a required field is missing */
type Confirm = (result: Result) => Answered | undefined;

/**
 * Finds the result of each line by its number. If the result of a line is missing or incomplete, the line may have been
 * applied or not. Its verdict is then a retryable rejection.
 *
 * @param count number of lines that were sent; lines are numbered from 1
 */
export const judgeBatch = (answer: HttpAnswer, count: number) => judgeLines(answer, count, applied);

/** As `judgeBatch`, for a dry run: no line was applied, and a valid line has the outcome VALID. */
export const judgeVerified = (answer: HttpAnswer, count: number) =>
  judgeLines(answer, count, valid);

function judgeLines(answer: HttpAnswer, count: number, confirm: Confirm): BatchVerdict {
  const batch = envelopeOf(answer) && parseJson(answer.text);
  if (!isBatch(batch)) {
    const verdict = judge(answer);
    return { whole: verdict.kind === 'rejected' ? verdict : fromElsewhere(answer) };
  }
  const retryAfter = toMilliseconds(answer.retryAfter);
  const lines: (Answered | Rejected)[] = Array.from({ length: count }, () => NO_RESULT);
  for (const result of batch.data.results) {
    if (result.line >= 1 && result.line <= count) {
      lines[result.line - 1] = verdictOf(result, retryAfter, confirm);
    }
  }
  return { lines };
}

const NO_RESULT = toRejected(
  {
    ...{ code: 500, reason: 'NO_RESULT', message: 'the answer says nothing of this line' },
    ...{ retryable: true, requestId: null, errors: [], warnings: [] },
  },
  undefined,
);

function verdictOf(
  result: Result,
  retryAfter: number | undefined,
  confirm: Confirm,
): Answered | Rejected {
  if (result.code !== 0) return toRejected(rejectionFieldsOf(result), retryAfter);
  return confirm(result) ?? NO_RESULT;
}

const applied: Confirm = (result) => {
  const { requestId, matterId, externalId, outcome, replayed = false, warnings } = result;
  if (requestId == null || !confirmsPush(result)) return undefined;
  const data = { matterId, externalId, outcome, ...(warnings && { warnings }) };
  return { kind: 'answered', data, requestId, replayed };
};

/** A line of a dry run has no request id. */
const valid: Confirm = ({ externalId, warnings }) => {
  const data = { externalId, outcome: 'VALID', ...(warnings && { warnings }) };
  return { kind: 'answered', data, requestId: '', replayed: false };
};

function rejectionFieldsOf({
  code,
  message,
  reason,
  retryable,
  requestId,
  errors,
  warnings,
}: Result): RejectionFields {
  const lists = { errors: errors ?? [], warnings: warnings ?? [] };
  return {
    code,
    message: message ?? '',
    reason,
    retryable,
    requestId: requestId ?? null,
    ...lists,
  };
}
