/** The handler of `push-logs/resend` (contract 7.5). */
import type { Middleware } from 'koa';
import { parseJsonBody } from '../../protocol/json-body';
import type { Language } from '../../protocol/language';
import { RESEND } from '../../protocol/paths';
import { readQuery } from '../../protocol/query-body';
import { type ResendResult, resendSchema } from '../../protocol/resend';
import type { ClientResend, ResentLine } from '../../pushes/pushes';
import type { Bulkhead } from '../../queries/bulkhead';
import type { RequestState } from '../request';
import { longestWait, renderLine, renderResult, setLineResults, throwIfRejected } from './batch';
import { requestOf, storeEnded } from './push';

/** @param bulkhead limits concurrent requests, because each request can load many bodies */
export function resendRoute(resend: ClientResend, bulkhead: Bulkhead): Middleware<RequestState> {
  return async (ctx) => {
    const { state } = ctx;
    // Ignores X-Idempotency-Key, because a repeated resend has no second effect. Ignores invalid push headers,
    // because a resend uses neither X-Idempotency-Key nor X-Strict-Fields.
    const withoutPushHeaders = { idempotencyKey: undefined, headerErrors: [] };
    const request = { ...requestOf(ctx, RESEND), ...withoutPushHeaders };
    const parse = () => {
      const body = readQuery(resendSchema, parseJsonBody(state.rawBody));
      const { length } = body.requestIds;
      state.lineCounts = { total: length, failed: length };
      return body;
    };
    const release = bulkhead.acquire(request.caller.clientId);
    try {
      const { lines, sent } = await resend(request, parse);
      storeEnded(state, RESEND, sent);
      throwIfRejected(sent);
      const results = lines.map((line) => renderResent(line, state.language));
      setLineResults(state, results, longestWait(lines));
    } finally {
      release();
    }
  };
}

function renderResent(resent: ResentLine, language: Language): ResendResult {
  const { line, requestId, externalId, answer, resentFrom, sent } = resent;
  // In a dry run, the answer for a valid push is a `ValidPush`, which has an `operation`.
  if ('operation' in answer) {
    const lineFields = { requestId, externalId: externalId ?? null, resentFrom, sent };
    return { line, ...renderLine(answer, language), ...lineFields };
  }
  return { ...renderResult({ line, requestId, externalId, answer }, language), resentFrom, sent };
}
