/** Sends the result that the route has stored in `ctx.state`, and sends every error as an envelope. */
import type { Middleware } from 'koa';
import type { Clock } from '../concurrency/timing';
import { partialEnvelope } from '../protocol/batch';
import { type Envelope, errorEnvelope, successEnvelope, withHelpUnder } from '../protocol/envelope';
import { PushError, type RateState } from '../protocol/errors';
import { API_HEADERS } from '../protocol/headers';
import type { Language } from '../protocol/language';
import { OPEN_PATH } from '../protocol/paths';
import { discardRest } from './body';
import { answerDocument, type PlainDocument } from './documents';
import type { EndRequest } from './end-request';
import { onResponseEnd, type StartedLines, writeLines } from './line-answer';
import type { RequestContext, RequestState } from './request';

export interface RespondOptions {
  readonly clock: Clock;
  /** Whether every envelope below /api/open has the status 200 (HTTP_STATUS_MODE). */
  readonly always200: boolean;
  readonly end: EndRequest;
  readonly pathPrefix: string;
  /** Whether the process is going to stop. */
  readonly isLeaving: () => boolean;
}

export function koaRespond(options: RespondOptions): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next();
      sendResult(ctx, options);
    } catch (cause) {
      await sendError(ctx, cause, options);
    }
    // `answered` is called outside the `try`, because a failure of `answered` must not change the answer.
    if (!ctx.state.lines) options.end.answered(ctx);
    // A connection with unread body data cannot be reused. A connection to a stopping process must not be reused.
    if (!ctx.req.complete || options.isLeaving()) ctx.set('Connection', 'close');
  };
}

/** @throws PushError PATH_NOT_FOUND or METHOD_NOT_ALLOWED if no route answered */
function sendResult(ctx: RequestContext, options: RespondOptions): void {
  const { data, lines, document, location, rate, partial } = ctx.state;
  setPaceHeaders(ctx, rate, partial?.retryAfter);
  if (lines) sendLines(ctx, lines, options);
  else if (document) sendDocument(ctx, document);
  else if (location) sendLocation(ctx, location);
  else if (data !== undefined) {
    writeEnvelope(ctx, envelopeOf(ctx.state, options), options.always200);
  } else throw noRoute(ctx);
}

async function sendError(
  ctx: RequestContext,
  cause: unknown,
  options: RespondOptions,
): Promise<void> {
  // If `readableFlowing` is null, the body is unread.
  if (ctx.req.readableFlowing === null) await discardRest(ctx.req);
  const error = options.end.rejected(ctx, cause ?? new Error('a handler threw null or undefined'));
  setPaceHeaders(ctx, error.rate ?? ctx.state.rate, error.retryAfter);
  writeEnvelope(ctx, errorEnvelopeOf(ctx.state, error, options), options.always200);
}

/** The IETF draft "RateLimit header fields for HTTP" defines the parameters `q`, `w`, `r` and `t`. */
function setPaceHeaders(ctx: RequestContext, state?: RateState, retryAfter?: number): void {
  if (state) {
    const { rate, burst, remaining } = state;
    const seconds = (pushes: number) => Math.ceil(pushes / rate);
    ctx.set('RateLimit-Policy', `"client";q=${burst};w=${seconds(burst)}`);
    ctx.set('RateLimit', `"client";r=${remaining};t=${seconds(burst - remaining)}`);
  }
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
}

function envelopeOf(
  { data, partial, requestId, language }: RequestState,
  { clock, pathPrefix }: RespondOptions,
): Envelope {
  if (!partial) return successEnvelope(data, requestId, clock());
  const envelope = partialEnvelope(data, partial.isRetryable, requestId, clock(), language);
  return withHelpUnder(pathPrefix, envelope);
}

const errorEnvelopeOf = (
  { requestId, language }: RequestState,
  error: PushError,
  { clock, pathPrefix }: RespondOptions,
): Envelope => withHelpUnder(pathPrefix, errorEnvelope(error, requestId, clock(), language));

/** The router sets `ctx.matched` to the routes with this path. */
function noRoute(ctx: RequestContext): PushError {
  const { matched = [] } = ctx as { matched?: readonly unknown[] };
  if (matched.length > 0) return new PushError('METHOD_NOT_ALLOWED');
  // For an unknown method, the router has set an empty Allow header.
  ctx.remove('Allow');
  return new PushError('PATH_NOT_FOUND');
}

/** The last line reports errors, because the status is sent before the first line. */
function sendLines(ctx: RequestContext, lines: StartedLines, options: RespondOptions): void {
  setLanguageHeaders(ctx);
  ctx.set(API_HEADERS);
  ctx.status = 200;
  ctx.type = 'application/x-ndjson; charset=utf-8';
  // Prevents Node's warning of a memory leak above ten listeners.
  ctx.res.setMaxListeners(20);
  // If the client disconnects before the last line, the request still counts as answered.
  onResponseEnd(ctx.res, () => options.end.answered(ctx));
  ctx.body = writeLines(ctx.res, lines, {
    success: (data) => {
      options.end.answered(ctx);
      return successEnvelope(data, ctx.state.requestId, options.clock());
    },
    failure: (cause) => errorEnvelopeOf(ctx.state, options.end.rejected(ctx, cause), options),
  });
}

function sendDocument(ctx: RequestContext, document: PlainDocument): void {
  const { status, headers, body } = answerDocument(document, ctx.headers);
  ctx.status = status;
  if (body) ctx.body = body;
  ctx.set({ ...API_HEADERS, 'Cache-Control': 'public, max-age=300', ...headers });
}

function sendLocation(ctx: RequestContext, location: string): void {
  ctx.set('Location', location);
  ctx.status = 302;
  ctx.body = '';
}

function writeEnvelope(ctx: RequestContext, envelope: Envelope, always200: boolean): void {
  setLanguageHeaders(ctx);
  ctx.set(API_HEADERS);
  const is200 = envelope.code === 0 || (always200 && ctx.path.startsWith(`${OPEN_PATH}/`));
  ctx.status = is200 ? 200 : envelope.code;
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = JSON.stringify(envelope);
}

const CONTENT_LANGUAGES: Readonly<Record<Language, string>> = { zh: 'zh-CN', en: 'en' };

/** `Vary` prevents a cache from serving an answer in the wrong language. */
function setLanguageHeaders(ctx: RequestContext): void {
  ctx.set('Content-Language', CONTENT_LANGUAGES[ctx.state.language]);
  ctx.vary('Accept-Language');
}
