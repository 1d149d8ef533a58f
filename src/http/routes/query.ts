/** The handler of the signed queries. */
import type { Middleware } from 'koa';
import type { Reach } from '../../concurrency/reach';
import { parseJsonBody } from '../../protocol/json-body';
import { databaseCall } from '../../pushes/pushes';
import type { Bulkhead } from '../../queries/bulkhead';
import type { AnswerQuery, SignedQuery } from '../../queries/signed-query';
import type { RequestState } from '../request';

export interface QueryRouteDependencies {
  /** Limits the concurrent queries, because an answer can have many megabytes. */
  readonly bulkhead: Bulkhead;
  readonly database: Pick<Reach, 'guard'>;
}

/** @param timeout in milliseconds */
export function queryRoute(
  answer: AnswerQuery,
  deps: QueryRouteDependencies,
  timeout: number,
): Middleware<RequestState> {
  return async ({ state }) => {
    const { signed, rawBody, language } = state;
    const body = parseJsonBody(rawBody);
    const { systemCode, clientId, secretId, queryKey } = signed.caller;
    const query = { systemCode, clientId, secretId, ...(queryKey && { queryKey }), language, body };
    const answered = answerInBulkhead(deps.bulkhead, answer, query);
    state.data = await databaseCall(deps.database.guard(answered), timeout);
  };
}

/** Holds a slot of the bulkhead until the query ends, even if the caller disconnects. */
async function answerInBulkhead(
  bulkhead: Bulkhead,
  answer: AnswerQuery,
  query: SignedQuery,
): Promise<unknown> {
  const release = bulkhead.acquire(query.systemCode);
  try {
    return await answer(query);
  } finally {
    release();
  }
}
