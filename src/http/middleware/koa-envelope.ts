/** The one place that writes responses: the envelope of every answer, success or failure. */
import type { Context, Middleware, Next } from 'koa';
import type { Clock } from '../../concurrency/clock';
import type { Flow, FlowPush } from '../../observability/processes/flow';
import { type Envelope, errorEnvelope, successEnvelope } from '../../protocol/envelope';
import { PushError, type RateState } from '../../protocol/errors';
import type { Language } from '../../protocol/language';
import { foldedLog, type TellLine } from '../../runtime/folded-log';
import type { Logger } from '../../runtime/logger';
import type { Metrics, Success } from '../../telemetry/metrics';
import type { StageTimes } from '../../telemetry/stage-times';
import { languageOf } from '../accept-language';
import { type BegunLines, writeLines } from '../line-answer';
import { discardRest } from '../streamed-body';
import { rateHeaders } from './rate-headers';

/** Characters of a path in the log: a caller may send a very long one. */
export const LOGGED_PATH = 200;
const CONTENT_LANGUAGES: Readonly<Record<Language, string>> = { zh: 'zh-CN', en: 'en' };

export interface EnvelopeOptions {
  readonly clock: Clock;
  /** @param receivedAt epoch milliseconds */
  readonly newRequestId: (receivedAt: number) => string;
  /** Whether an answer on this path has status 200 whatever its code is (HTTP_STATUS_MODE). */
  readonly always200: (path: string) => boolean;
  /** Whether this process goes: who keeps a connection alive shall find another one. */
  readonly isLeaving?: () => boolean;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** Counts what pushes came to. */
  readonly flow?: Pick<Flow, 'answered' | 'rejected'>;
}

/** What is sent as it is, without an envelope. */
export interface PlainDocument {
  readonly bytes: Buffer;
  readonly type: string;
  /** Another one where the bytes are others. */
  readonly etag: string;
  /** Besides the usual ones, or in their place. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What handlers find in and leave on `ctx.state`. */
export interface RequestState {
  requestId: string;
  /** Epoch milliseconds. */
  receivedAt: number;
  /** What its caller reads. */
  language: Language;
  /** Known after authentication; for the log line. */
  clientId?: string;
  /** Where the client stands with its rate, once it is admitted. */
  rate?: RateState | undefined;
  /** What a handler returns: becomes `data`. */
  data?: unknown;
  /** What a push came to; for metrics and traces. */
  outcome?: Success;
  /** What its caller was told in place of success; for traces. */
  rejection?: PushError;
  /** Where TRACING is on: 32 hex digits. */
  traceId?: string;
  /** Where LOG_REQUESTS is on. */
  stages?: StageTimes;
  /** What a handler returns in place of `data` where it is too long for one document. */
  lines?: BegunLines;
  /** What a handler returns in place of `data` where it is no answer of the service itself. */
  document?: PlainDocument;
  /** What a handler returns in place of `data` where it is somewhere else: a relative URL. */
  location?: string | undefined;
}

interface Rendering extends EnvelopeOptions {
  readonly tell: TellLine;
}

/** Handlers set `ctx.state.data`, `lines` or `document`, or throw; this renders either. */
export function koaEnvelope(settings: EnvelopeOptions): Middleware<RequestState> {
  const options = { ...settings, tell: foldedLog(settings.logger) };
  return async (ctx, next) => {
    ctx.state.receivedAt = options.clock();
    ctx.state.language = languageOf(ctx.req.headers['accept-language']);
    ctx.state.requestId = options.newRequestId(ctx.state.receivedAt);
    const error = await outcome(ctx, next);
    // Rejected before its body was read: it is let in, so that its sender reads the answer and can
    // go on with the connection.
    if (error !== undefined && ctx.req.readableFlowing === null) await discardRest(ctx.req);
    const { data, lines, document, location } = ctx.state;
    const rate = error instanceof PushError && error.rate ? error.rate : ctx.state.rate;
    if (rate) ctx.set(rateHeaders(rate));
    if (options.isLeaving?.()) ctx.set('Connection', 'close');
    if (error !== undefined) renderError(ctx, error, options);
    else if (lines) renderLines(ctx, lines, options);
    else if (document) renderDocument(ctx, document);
    else if (location) renderLead(ctx, location);
    else render(ctx, succeeded(ctx, data, options), options);
  };
}

async function outcome(ctx: Context, next: Next): Promise<unknown> {
  try {
    await next();
  } catch (error) {
    return error ?? new Error('something empty was thrown');
  }
  const { data, lines, document, location } = ctx.state;
  if (data !== undefined || lines || document || location) return undefined;
  // No handler ran. The router leaves the routes of the path, whatever their method, on the context.
  const { matched = [] } = ctx as { matched?: readonly unknown[] };
  if (matched.length > 0) return new PushError('METHOD_NOT_ALLOWED');
  // The router names the methods of no route at all where it does not know the request's.
  ctx.remove('Allow');
  return new PushError('PATH_NOT_FOUND');
}

function renderError(ctx: Context, cause: unknown, options: Rendering): void {
  const error = rejectionOf(ctx, cause, options);
  if (error.retryAfter !== undefined) ctx.set('Retry-After', String(error.retryAfter));
  const { requestId, language } = ctx.state;
  render(ctx, errorEnvelope(error, requestId, options.clock(), language), options);
}

/** The status is sent before it is known how the lines end: their last one tells. */
function renderLines(ctx: Context, lines: BegunLines, options: Rendering): void {
  const { requestId, language } = ctx.state;
  tellLanguage(ctx);
  ctx.status = 200;
  ctx.type = 'application/x-ndjson; charset=utf-8';
  ctx.body = writeLines(ctx.res, lines, {
    success: (data) => succeeded(ctx, data, options),
    failure: (cause) =>
      errorEnvelope(rejectionOf(ctx, cause, options), requestId, options.clock(), language),
  });
}

/** Anybody may ask, as often as they like: caches answer most of it, and most of the rest is a 304. */
function renderDocument(ctx: Context, { bytes, type, etag, headers }: PlainDocument): void {
  closeIfUnread(ctx);
  ctx.set({ ETag: etag, 'Cache-Control': 'public, max-age=300', ...headers });
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  ctx.body = bytes;
}

function renderLead(ctx: Context, location: string): void {
  closeIfUnread(ctx);
  ctx.set('Location', location);
  ctx.status = 302;
  ctx.body = '';
}

function succeeded(ctx: Context, data: unknown, options: EnvelopeOptions): Envelope {
  const { requestId, receivedAt, outcome: came = 'ANSWERED' } = ctx.state;
  options.metrics?.answered(ctx.path, receivedAt, came);
  options.flow?.answered(flowOf(ctx, options), came);
  return successEnvelope(data, requestId, options.clock());
}

/** What the caller is told of a failure; the log has the rest. */
function rejectionOf(ctx: Context, cause: unknown, options: Rendering): PushError {
  const { clock, metrics, tell } = options;
  const { requestId, clientId, receivedAt } = ctx.state;
  const error = cause instanceof PushError ? cause : new PushError('INTERNAL_ERROR');
  ctx.state.rejection = error;
  if (error !== cause) {
    tell({ level: 'error', text: 'unexpected error' }, { requestId, error: stackOf(cause) });
  }
  metrics?.rejected(ctx.path, receivedAt, error);
  options.flow?.rejected(flowOf(ctx, options), error);
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
}

function flowOf({ path, state }: Context, { clock }: EnvelopeOptions): FlowPush {
  return { path, clientId: state.clientId, ms: clock() - state.receivedAt };
}

function render(ctx: Context, envelope: Envelope, options: EnvelopeOptions): void {
  closeIfUnread(ctx);
  tellLanguage(ctx);
  ctx.status = envelope.code === 0 || options.always200(ctx.path) ? 200 : envelope.code;
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = JSON.stringify(envelope);
}

/** A cache must not give one caller's language to another. */
function tellLanguage(ctx: Context): void {
  const { language }: RequestState = ctx.state;
  ctx.set('Content-Language', CONTENT_LANGUAGES[language]);
  ctx.vary('Accept-Language');
}

/** The unread rest of a body must not be taken for the next request. */
function closeIfUnread(ctx: Context): void {
  if (!ctx.req.complete) ctx.set('Connection', 'close');
}

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));

function causeOf({ cause }: PushError): string | undefined {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
}
