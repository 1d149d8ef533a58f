/** What the caller is told of a failure is one PushError; the log, the metrics and the trace have the rest. */
import type { Context } from 'koa';
import type { Clock } from '../concurrency/clock';
import type { Flow, FlowPush } from '../observability/processes/flow';
import { PushError } from '../protocol/errors';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import { errorText } from '../storage/driver-errors';
import type { Metrics } from '../telemetry/metrics';

/** Characters of a path in the log: a caller may send a very long one. */
export const LOGGED_PATH = 200;

/** Who hears of each answer. */
export interface Listeners {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** Counts what pushes came to. */
  readonly flow?: Pick<Flow, 'answered' | 'rejected'>;
}

/** Logs and counts a failure. @returns it as its caller is told: what is unexpected is an INTERNAL_ERROR */
export type TellRejection = (ctx: Context, cause: unknown) => PushError;

export function createTellRejection(listeners: Listeners): TellRejection {
  const { clock, logger, metrics, flow } = listeners;
  const tell = foldedLog(logger);
  return (ctx, cause) => {
    const { requestId, clientId, receivedAt, lineCounts } = ctx.state;
    const error = cause instanceof PushError ? cause : new PushError('INTERNAL_ERROR');
    ctx.state.rejection = error;
    if (error !== cause) {
      tell({ level: 'error', text: 'unexpected error' }, { requestId, error: stackOf(cause) });
    }
    metrics?.rejected(ctx.path, receivedAt, error);
    // A batch that is rejected as a whole: all its lines are, as far as it was read.
    if (lineCounts) metrics?.lines(undefined, lineCounts.total, error);
    flow?.rejected(flowPushOf(ctx, clock), error, lineCounts?.total);
    const ms = Math.round(clock() - receivedAt);
    const path = ctx.path.slice(0, LOGGED_PATH);
    const { reason, code } = error;
    const details = { requestId, path, ms };
    if (code < 500) tell({ level: 'info', text: 'rejected', clientId, reason, code }, details);
    else {
      const cause = causeOf(error);
      tell({ level: 'warn', text: 'failed', clientId, reason, code }, { ...details, cause });
    }
    return error;
  };
}

export function flowPushOf({ path, state }: Context, clock: Clock): FlowPush {
  return { path, clientId: state.clientId, ms: clock() - state.receivedAt };
}

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));

const causeOf = ({ cause }: PushError): string | undefined =>
  cause === undefined ? undefined : errorText(cause);
