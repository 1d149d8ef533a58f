/** The values that the middlewares of a request share in `ctx.state`. */
import type { Middleware, ParameterizedContext } from 'koa';
import type { SignedRequest } from '../auth/authenticate';
import type { Clock } from '../concurrency/timing';
import type { StageTimes, Success } from '../observability/metrics';
import type { PushError, RateState } from '../protocol/errors';
import type { IdLines } from '../protocol/id-lines';
import { LANGUAGES, type Language } from '../protocol/language';
import type { PushEnded } from '../pushes/pushes';
import type { BodyDigest, RequestFields } from '../storage/push-log';
import type { PlainDocument } from './documents';
import type { StartedLines } from './line-answer';

export type RequestContext = ParameterizedContext<RequestState>;

export interface RequestState {
  /** Set by koaRequest. The authentication replaces the id. */
  requestId: string;
  /** Set by koaRequest. Start of the request, epoch milliseconds. */
  arrivedAt: number;
  language: Language;
  /** Set by koaRawBody. Emptied before the answer is sent. */
  rawBody: Buffer;
  /** Set by koaHmacAuth or koaStreamedHmacAuth. */
  signed: SignedRequest;
  /** Set by koaHmacAuth for a large body. */
  digest?: BodyDigest | undefined;
  /** Set by koaStreamedHmacAuth: the ids in the body of `matters/orphans`. */
  ids: IdLines;
  /** Set by koaHmacAuth or koaStreamedHmacAuth, for logs and traces. */
  clientId?: string;
  /** Set by koaAdmit or by the route, for the headers of the answer. */
  rate?: RateState | undefined;
  /** Set by the route: `data` of the envelope. */
  data?: unknown;
  /** Set by the route if at least one line of a batch or resend failed. */
  partial?: PartialFailure;
  /** Set by the routes of batches and resends. */
  lineCounts?: { readonly total: number; readonly failed: number };
  /** Set by the route instead of `data`: an answer that may not fit in memory. */
  lines?: StartedLines;
  /** Set by the route instead of `data`. */
  document?: PlainDocument;
  /** Set by the route instead of `data`: the relative URL of a redirect. */
  location?: string | undefined;
  /** Set by the route or by a failed authentication. */
  pushes?: readonly PushEnded[];
  /** Set by `createEndRequest` at the end of the request. */
  ended?: { readonly outcome?: Success | undefined; readonly rejection?: PushError };
  /** Set by koaTrace if TRACING is on; 32 hex digits. */
  traceId?: string;
  /** Set by koaAccessLog if LOG_REQUESTS is on. */
  stages?: StageTimes;
}

export interface PartialFailure {
  /** Whether at least one failed line is `retryable`. */
  readonly isRetryable: boolean;
  /** The longest Retry-After of the retryable lines, in seconds. */
  readonly retryAfter?: number | undefined;
}

/** @param time the time of receipt, epoch milliseconds */
export type NewRequestId = (time: number) => string;

export function koaRequest(clock: Clock, newRequestId: NewRequestId): Middleware<RequestState> {
  return ({ req, state }, next) => {
    state.arrivedAt = clock();
    state.language = languageOf(req.headers['accept-language']);
    state.requestId = newRequestId(state.arrivedAt);
    return next();
  };
}

export const requestFields = ({ state: { traceId } }: RequestContext): RequestFields => ({
  ...(traceId !== undefined && { traceId }),
});

const QUALITY = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/**
 * @param header Accept-Language (RFC 9110, 12.5.4)
 * @returns the accepted language with the highest weight; Chinese by default
 */
export function languageOf(header: string | undefined): Language {
  const [fallback] = LANGUAGES;
  if (header === undefined) return fallback;
  let best: { readonly language: Language; readonly quality: number } | undefined;
  for (const range of header.split(',')) {
    const [tag = '', parameter] = range.split(';').map((part) => part.trim());
    const primary = tag.toLowerCase().split('-')[0];
    const language = LANGUAGES.find((it) => it === primary);
    // An invalid weight counts as 0: the language is not accepted.
    const quality = parameter === undefined ? 1 : Number(QUALITY.exec(parameter)?.[1] ?? 0);
    if (language && quality > (best?.quality ?? 0)) best = { language, quality };
  }
  return best?.language ?? fallback;
}
