/** Reports the results of requests and pushes to the metrics, the push counts and the log. */
import type { Clock } from '../concurrency/timing';
import { errorText } from '../infra/driver-errors';
import { foldedLog, type LogLine } from '../infra/folded-log';
import type { Logger } from '../infra/logger';
import { type Metrics, NO_METRICS } from '../observability/metrics';
import { PushError } from '../protocol/errors';
import { commonOperation, outcomeOf, type PushEnded, toCountedPush } from '../pushes/pushes';
import type { PushCounts } from '../storage/push-log';
import type { RequestContext, RequestState } from './request';

/** Maximum characters of a path in the log. */
export const MAX_PATH = 200;

export interface Listeners {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  readonly counts?: PushCounts;
}

/** Only the first call for a request is reported. */
export interface EndRequest {
  answered(ctx: RequestContext): void;
  rejected(ctx: RequestContext, cause: unknown): PushError;
}

export function createEndRequest(listeners: Listeners): EndRequest {
  const { clock, logger, metrics = NO_METRICS } = listeners;
  const log = foldedLog(logger);
  const endOnce = (
    { state }: RequestContext,
    ended: NonNullable<RequestState['ended']>,
    report: () => void,
  ) => {
    if (state.ended) return;
    state.ended = ended;
    try {
      report();
    } catch (error) {
      logUnexpected(log, state.requestId, error);
    }
  };
  return {
    answered: (ctx) => {
      const { path, state } = ctx;
      const [push] = state.pushes ?? [];
      const isSingle = push && push.lines === undefined && !(push.answer instanceof PushError);
      const outcome = isSingle ? outcomeOf(push.answer) : undefined;
      endOnce(ctx, { outcome }, () => {
        metrics.answered(path, state.arrivedAt, outcome ?? 'ANSWERED');
        countPushes(listeners, state.pushes);
      });
    },
    rejected: (ctx, cause) => {
      const { path, state } = ctx;
      const rejection =
        cause instanceof PushError ? cause : new PushError('INTERNAL_ERROR', { cause });
      endOnce(ctx, { rejection }, () => {
        metrics.rejected(path, state.arrivedAt, rejection);
        countPushes(listeners, state.pushes);
        logRejected(log, ctx, rejection, Math.round(clock() - state.arrivedAt));
      });
      return rejection;
    },
  };
}

function countPushes({ clock, metrics, counts }: Listeners, pushes: readonly PushEnded[] = []) {
  for (const push of pushes) {
    const { operation, receivedAt, answer, lines, isRecorded } = push;
    if (lines !== undefined) {
      const end = answer instanceof PushError ? answer : outcomeOf(answer);
      metrics?.lines(commonOperation(operation), lines, end);
    }
    const counted = toCountedPush(push);
    counts?.ended(counted, clock() - receivedAt, lines);
    if (!isRecorded) counts?.unrecorded(counted, lines);
  }
}

function logRejected(
  log: LogLine,
  ctx: RequestContext,
  { reason, code, cause }: PushError,
  ms: number,
): void {
  const { requestId, clientId } = ctx.state;
  const isUnexpected = reason === 'INTERNAL_ERROR' && cause !== undefined;
  if (isUnexpected) logUnexpected(log, requestId, cause);
  const details = { requestId, path: ctx.path.slice(0, MAX_PATH), ms };
  if (code < 500) log({ level: 'info', text: 'rejected', clientId, reason, code }, details);
  else {
    const causeText = isUnexpected || cause === undefined ? undefined : errorText(cause);
    log(
      { level: 'warn', text: 'failed', clientId, reason, code },
      { ...details, cause: causeText },
    );
  }
}

const logUnexpected = (log: LogLine, requestId: string, error: unknown) =>
  log({ level: 'error', text: 'unexpected error' }, { requestId, error: stackOf(error) });

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));
