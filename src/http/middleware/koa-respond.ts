/** Sends what the route left on `ctx.state`: `data` in an envelope, lines, a document, or where it is. */
import type { Context, Middleware } from 'koa';
import { partialEnvelope } from '../../protocol/batch';
import {
  type Envelope,
  errorEnvelope,
  successEnvelope,
  withHelpUnder,
} from '../../protocol/envelope';
import { PushError } from '../../protocol/errors';
import { API_HEADERS } from '../../protocol/headers';
import { answerDocument } from '../document-answer';
import { type BegunLines, writeLines } from '../line-answer';
import { rateHeaders } from '../rate-headers';
import type { PlainDocument, RequestState } from '../request-state';
import { flowPushOf, type Listeners, type TellRejection } from '../tell-rejection';
import { type Always200, closeIfUnread, tellLanguage, writeEnvelope } from '../write-envelope';

export interface RespondOptions extends Omit<Listeners, 'logger'> {
  readonly always200: Always200;
  /** Of what fails when the first lines are sent. */
  readonly tellRejection: TellRejection;
  /** Path below which clients reach the service. */
  readonly pathPrefix: string;
}

/** @throws (the middleware) PushError PATH_NOT_FOUND or METHOD_NOT_ALLOWED where no route answered */
export function koaRespond(options: RespondOptions): Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    const { data, lines, document, location, rate, partial } = ctx.state;
    if (rate) ctx.set(rateHeaders(rate));
    if (partial?.retryAfter !== undefined) ctx.set('Retry-After', String(partial.retryAfter));
    if (lines) sendLines(ctx, lines, options);
    else if (document) sendDocument(ctx, document);
    else if (location) sendLocation(ctx, location);
    else if (data !== undefined) {
      writeEnvelope(ctx, envelopeOf(ctx.state, options), options.always200);
      countSuccess(ctx, options);
    } else throw noRoute(ctx);
  };
}

function envelopeOf(
  { data, partial, requestId, language }: RequestState,
  { clock, pathPrefix }: RespondOptions,
): Envelope {
  if (!partial) return successEnvelope(data, requestId, clock());
  const envelope = partialEnvelope(data, partial.isRetryable, requestId, clock(), language);
  return withHelpUnder(pathPrefix, envelope);
}

/** The router leaves the routes of the path, whatever their method, on the context. */
function noRoute(ctx: Context): PushError {
  const { matched = [] } = ctx as { matched?: readonly unknown[] };
  if (matched.length > 0) return new PushError('METHOD_NOT_ALLOWED');
  // The router names the methods of no route at all where it does not know the request's.
  ctx.remove('Allow');
  return new PushError('PATH_NOT_FOUND');
}

function countSuccess(ctx: Context, { clock, metrics, flow }: RespondOptions): void {
  const { receivedAt, outcome = 'ANSWERED' }: RequestState = ctx.state;
  metrics?.answered(ctx.path, receivedAt, outcome);
  // Of a batch its lines are counted.
  if (ctx.state.lineCounts === undefined) flow?.answered(flowPushOf(ctx, clock), outcome);
}

/** The status is sent before it is known how the lines end: their last one tells. */
function sendLines(ctx: Context, lines: BegunLines, options: RespondOptions): void {
  const { clock, tellRejection, pathPrefix } = options;
  const { requestId, language }: RequestState = ctx.state;
  tellLanguage(ctx);
  ctx.set(API_HEADERS);
  ctx.status = 200;
  ctx.type = 'application/x-ndjson; charset=utf-8';
  ctx.body = writeLines(ctx.res, lines, {
    success: (data) => {
      countSuccess(ctx, options);
      return successEnvelope(data, requestId, clock());
    },
    failure: (cause) => {
      const envelope = errorEnvelope(tellRejection(ctx, cause), requestId, clock(), language);
      return withHelpUnder(pathPrefix, envelope);
    },
  });
}

/** Anybody may ask, as often as they like: caches answer most of it, and most of the rest is a 304. */
function sendDocument(ctx: Context, document: PlainDocument): void {
  closeIfUnread(ctx);
  const { status, headers, body } = answerDocument(document, ctx.headers);
  ctx.status = status;
  if (body) ctx.body = body;
  ctx.set({ ...API_HEADERS, 'Cache-Control': 'public, max-age=300', ...headers });
}

function sendLocation(ctx: Context, location: string): void {
  closeIfUnread(ctx);
  ctx.set('Location', location);
  ctx.status = 302;
  ctx.body = '';
}
