/** Combines the plan of a resend with the results of the pushes that were sent: one result per request id. */
import { PushError, type Reason } from '../protocol/errors';
import { type LogEntry, settlementOf } from '../storage/push-log';
import { answerOf, type PushAnswer, type PushResult } from './push';
import type { Planned, Skipped } from './resend-plan';
import type { ValidPush } from './validate';

export interface ResentLine {
  /** Place of the request id in the request, from 1. */
  readonly line: number;
  readonly resentFrom: string;
  /** In a dry run: whether the push would be sent. */
  readonly sent: boolean;
  /** The id of the new push, or `SkippedPush.by` if no push is sent. If neither exists: `resentFrom`. */
  readonly requestId: string;
  readonly externalId: string | undefined;
  /** A ValidPush only in a dry run, if the push would be sent. */
  readonly answer: PushAnswer | ValidPush;
}

/** A push that the resend request names, and the plan for this push. */
export interface RequestedPush {
  readonly planned: Planned;
  /**
   * Places in the resend request, from 1. A push can have several places, because each attempt of the push has its own
   * request id.
   */
  readonly lines: readonly number[];
  /** Set only if the kind of `planned` is `push`. */
  readonly checked?: ValidPush | PushError | undefined;
  /** The log entry of the push with the request id `planned.by`. */
  readonly effect?: LogEntry | undefined;
}

/** @param results absent in a dry run */
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
  // If the client did not sign the entry, or the entry is no push, `linesOf` keeps PUSH_NOT_FOUND.
  if (by === undefined) return {};
  // Without a settlement, the push `by` is still queued, or the MongoDB majority has not confirmed its entry.
  const settlement = effect && settlementOf(effect);
  if (!settlement) return { ...ids, answer: new PushError('STILL_QUEUED') };
  const { systemCode = '', externalId = '', warnings = [] } = effect;
  const answer = answerOf(settlement, systemCode, { externalId, warnings });
  if (answer instanceof PushError) return { ...ids, answer };
  return { ...ids, externalId, answer: { ...answer, replayed: true } };
}
