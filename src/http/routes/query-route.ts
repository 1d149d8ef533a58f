/** The handler of the query endpoints: signed like a push, answered from the database, no trace. */
import type { Middleware } from 'koa';
import { parseJsonBody } from '../../protocol/json-body';
import type { Admit } from '../../pushes/admit';
import { databaseCall } from '../../pushes/availability';
import type { Bulkhead } from '../../queries/bulkhead';
import type { AnswerQuery, OpenQuery } from '../../queries/open-query';
import type { RequestState } from '../middleware/koa-envelope';
import type { ReadSignedRequest } from '../read-signed-request';

export interface QueryRouteDependencies {
  readonly read: ReadSignedRequest;
  readonly admit: Admit;
  /** Bounds what is answered at a time: an answer may be many megabytes. */
  readonly bulkhead: Bulkhead;
  /** Milliseconds for the answer. */
  readonly timeout: number;
}

export interface QueryRoute {
  /** Below the base path, for example `matters/get`. */
  readonly name: string;
  /** Largest body in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds for the answer, where it takes longer than others. */
  readonly timeout?: number;
  readonly answer: AnswerQuery;
}

export function queryRoute(
  { name, bodyLimit, answer, ...route }: QueryRoute,
  deps: QueryRouteDependencies,
): Middleware<RequestState> {
  const timeout = route.timeout ?? deps.timeout;
  // The place is released when the answer is there, also where its caller waits no longer.
  const answerInBulkhead = async (query: OpenQuery) => {
    const release = deps.bulkhead.acquire(query.systemCode);
    try {
      return await answer(query);
    } finally {
      release();
    }
  };
  return async (ctx) => {
    const request = await deps.read(ctx, { operation: name, bodyLimit });
    ctx.state.rate = await deps.admit({ ...request, path: ctx.path }, deps.timeout);
    const body = parseJsonBody(request.rawBody);
    const { systemCode, clientId } = request.caller;
    const { language } = ctx.state;
    ctx.state.data = await databaseCall(
      answerInBulkhead({ systemCode, clientId, language, body }),
      timeout,
    );
  };
}
