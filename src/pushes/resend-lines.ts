/** Makes the answer lines of a resend: one line for each request id. */
import { PushError, type Reason } from '../protocol/errors';
import { type LogEntry, settlementOf } from '../storage/push-log';
import { answerOf, type PushAnswer, type PushResult } from './push';
import type { Planned, Skipped } from './resend-plan';
import type { ValidPush } from './validate';

export interface ResentLine {
  /** Place of the request id in the request, from 1. */
  readonly line: number;
  readonly resentFrom: string;
  /** True if the push is planned to be sent. A dry run sends nothing. */
  readonly sent: boolean;
  /** Request id of the push that caused `answer`. */
  readonly requestId: string;
  readonly externalId: string | undefined;
  /** A ValidPush is possible only in a dry run. */
  readonly answer: PushAnswer | ValidPush;
}

/** A push that the resend request names, and the plan for this push. */
export interface RequestedPush {
  readonly planned: Planned;
  /** The place of each request id of the push in the resend request, from 1. */
  readonly lines: readonly number[];
  /** Set only if the kind of `planned` is `push`. */
  readonly checked?: ValidPush | PushError | undefined;
  /** The log entry with the request id `planned.by`. */
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
  // Without an update, the line keeps the answer PUSH_NOT_FOUND.
  if (by === undefined) return {};
  const settlement = effect && settlementOf(effect);
  if (!settlement) return { ...ids, answer: new PushError('STILL_QUEUED') };
  const { systemCode = '', externalId = '', warnings = [] } = effect;
  const answer = answerOf(settlement, systemCode, { externalId, warnings });
  if (answer instanceof PushError) return { ...ids, answer };
  return { ...ids, externalId, answer: { ...answer, replayed: true } };
}
