/** One wide line in the log for each request, once its answer is sent or its caller gone (LOG_REQUESTS). */
import type { Middleware } from 'koa';
import type { Logger } from '../../runtime/logger';
import { createStageTimes } from '../../telemetry/stage-times';
import type { RequestState } from '../request-state';
import { LOGGED_PATH } from '../tell-rejection';

export function koaAccessLog(logger: Logger): Middleware<RequestState> {
  return async (ctx, next) => {
    const began = performance.now();
    const stages = createStageTimes();
    ctx.state.stages = stages;
    // The stream of an answer of many lines goes on for long after the handlers.
    ctx.res.once('close', () => {
      const { requestId, clientId, outcome, rejection, lineCounts } = ctx.state;
      const line = {
        requestId,
        method: ctx.method,
        path: ctx.path.slice(0, LOGGED_PATH),
        clientId,
        status: ctx.res.statusCode,
        /** False where the caller went before the whole answer was sent. */
        answered: ctx.res.writableFinished,
        outcome,
        /** Of a batch. */
        lines: lineCounts,
        reason: rejection?.reason,
        ms: Math.round(performance.now() - began),
        stages: stages.read(),
      };
      logger.info(line, 'request');
    });
    await next();
  };
}
