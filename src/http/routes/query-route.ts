/** The handler of the query endpoints: signed like a push, answered from the database, no trace. */
import type { Middleware } from 'koa';
import type { Reach } from '../../concurrency/reach';
import { parseJsonBody } from '../../protocol/json-body';
import { databaseCall } from '../../pushes/availability';
import type { Bulkhead } from '../../queries/bulkhead';
import type { AnswerQuery, OpenQuery } from '../../queries/open-query';
import type { RequestState } from '../request-state';

export interface QueryRoute {
  /** Largest body in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds for the answer, where it takes longer than others. */
  readonly timeout?: number;
  readonly answer: AnswerQuery;
}

export interface QueryRouteDependencies {
  /** Bounds what is answered at a time: an answer may be many megabytes. */
  readonly bulkhead: Bulkhead;
  readonly database: Pick<Reach, 'guard'>;
  /** Milliseconds for the answer. */
  readonly timeout: number;
}

export function queryRoute(
  { answer, ...route }: QueryRoute,
  deps: QueryRouteDependencies,
): Middleware<RequestState> {
  const timeout = route.timeout ?? deps.timeout;
  return async ({ state }) => {
    const { signed, rawBody, language } = state;
    const body = parseJsonBody(rawBody);
    const { systemCode, clientId, secretId, queryKey } = signed.caller;
    const query = { systemCode, clientId, secretId, ...(queryKey && { queryKey }), language, body };
    const answered = answerInBulkhead(deps.bulkhead, answer, query);
    state.data = await databaseCall(deps.database.guard(answered), timeout);
  };
}

/** The place is released when the answer is there, also where its caller waits no longer. */
async function answerInBulkhead(
  bulkhead: Bulkhead,
  answer: AnswerQuery,
  query: OpenQuery,
): Promise<unknown> {
  const release = bulkhead.acquire(query.systemCode);
  try {
    return await answer(query);
  } finally {
    release();
  }
}
