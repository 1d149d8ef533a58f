/** Combines the plan of a resend with the results of the pushes that were sent: one result per request id. */
import { PushError, type Reason } from '../protocol/errors';
import { type LogEntry, settlementOf } from '../storage/push-log';
import { answerOf, type PushAnswer, type PushResult } from './push';
import type { Planned, Skipped } from './resend-plan';
import type { ValidPush } from './validate';

/** The result for one request id of a resend request. */
export interface ResentLine {
  /** Place of the request id in the request, from 1. */
  readonly line: number;
  readonly resentFrom: string;
  /** Whether the push is sent again; in a dry run, whether it would be sent again. */
  readonly sent: boolean;
  /**
   * - If `sent` is true: the id of the new push. In a dry run: `resentFrom`.
   * - If `sent` is false: the id of the push that took effect, or of a later push that resolved the failure or is still
   *   queued. Without such a push: `resentFrom`.
   */
  readonly requestId: string;
  readonly externalId: string | undefined;
  /** In a dry run, the answer for a valid push that would be sent is a ValidPush. */
  readonly answer: PushAnswer | ValidPush;
}

/** A push that the resend request names, and the plan for this push. */
export interface RequestedPush {
  readonly planned: Planned;
  /**
   * The places (from 1) in the request at which an id of this push stands. The request can name several ids of one
   * push, because each attempt of the push has its own id.
   */
  readonly lines: readonly number[];
  /** If the push is sent: the result of its validation. */
  readonly checked?: ValidPush | PushError | undefined;
  /** If the push is not sent: the log entry of the push `planned.by`. */
  readonly effect?: LogEntry | undefined;
}

/** @param results the results of the pushes that were sent; absent in a dry run */
export function linesOf(
  requestIds: readonly string[],
  plan: readonly RequestedPush[],
  results?: readonly PushResult[],
): ResentLine[] {
  const lines = requestIds.map((id, index): ResentLine => {
    const ids = { resentFrom: id, requestId: id, externalId: undefined };
    return { line: index + 1, ...ids, sent: false, answer: new PushError('PUSH_NOT_FOUND') };
  });
  const byLine = new Map(results?.map((result) => [result.line, result]));
  for (const requested of plan) {
    const result = byLine.get(requested.lines[0]);
    const isMissing = results && requested.planned.kind === 'push' && !result;
    const update = {
      ...plannedLine(requested),
      ...(result && endedLine(result)),
      ...(isMissing && { answer: new PushError('INTERNAL_ERROR') }),
    };
    for (const place of requested.lines) {
      const line = lines[place - 1];
      if (line) lines[place - 1] = { ...line, ...update };
    }
  }
  return lines;
}

const endedLine = ({ requestId, externalId, answer }: PushResult) => ({
  requestId,
  externalId,
  answer,
});

/**
 * The reason in the answer, for some of the reasons in `Skipped`. `plannedLine` derives the answers for the other
 * reasons.
 */
const REASONS: Partial<Record<Skipped, Reason>> = {
  STILL_QUEUED: 'STILL_QUEUED',
  RESOLVED_SINCE: 'RESOLVED_SINCE',
  BODY_GONE: 'BODY_NOT_STORED',
};

function plannedLine({ planned, checked, effect }: RequestedPush): Partial<ResentLine> {
  if (planned.kind === 'push') {
    const answer = checked ?? new PushError('INTERNAL_ERROR');
    const { externalId } = answer instanceof PushError ? planned.push.entry : answer;
    return { sent: true, externalId, answer };
  }
  const { entry, why, by } = planned;
  const ids = { ...(by !== undefined && { requestId: by }), externalId: entry.externalId };
  const reason = REASONS[why];
  if (reason) return { ...ids, answer: new PushError(reason) };
  // The client did not sign the push, or the entry is no push. The answer stays PUSH_NOT_FOUND, as for an unknown id.
  if (by === undefined) return {};
  // Without a settlement, the push is still queued, or the majority of the database servers has not confirmed the
  // entry.
  const settlement = effect && settlementOf(effect);
  if (!settlement) return { ...ids, answer: new PushError('STILL_QUEUED') };
  const { systemCode = '', externalId = '', warnings = [] } = effect;
  const answer = answerOf(settlement, systemCode, { externalId, warnings });
  if (answer instanceof PushError) return { ...ids, answer };
  return { ...ids, externalId, answer: { ...answer, replayed: true } };
}
