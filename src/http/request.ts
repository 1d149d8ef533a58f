/**
 * The values that the middlewares of a request share in `ctx.state`. The first middleware, `koaRequest`, sets the time
 * of arrival, the request id and the language.
 */
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
  /** Set by koaRequest. When the whole request has arrived, the authentication replaces this id by a new id. */
  requestId: string;
  /**
   * Set by koaRequest: when the handling of the request began, epoch milliseconds. While connections are accepted,
   * this time is up to 10 ms after the arrival of the head (new-connections.ts).
   */
  arrivedAt: number;
  /** Set by koaRequest: the language of the answer. */
  language: Language;
  /** Set by koaRawBody: the bytes of the body. Empty again when the request has been handled. */
  rawBody: Buffer;
  /** Set by koaHmacAuth, or by koaStreamedHmacAuth for `matters/orphans`: the authenticated request. */
  signed: SignedRequest;
  /** Set by koaHmacAuth for a large body: its hash and its size. */
  digest?: BodyDigest | undefined;
  /** Set by koaStreamedHmacAuth: the ids in the body of `matters/orphans`. */
  ids: IdLines;
  /** Set by koaHmacAuth and koaStreamedHmacAuth, for logs and traces. */
  clientId?: string;
  /** Set when the client is admitted: its rate limit, for the headers of the answer. */
  rate?: RateState | undefined;
  /** Set by the route: `data` of the envelope. */
  data?: unknown;
  /** Set by the route in addition to `data` if lines of a batch failed. */
  partial?: PartialFailure;
  /** Set by the route: line counts of a batch, for the log line. */
  lineCounts?: { readonly total: number; readonly failed: number };
  /** Set by the route instead of `data`: an answer that may be larger than the memory. */
  lines?: StartedLines;
  /** Set by the route instead of `data`: a file or the OpenAPI document. */
  document?: PlainDocument;
  /** Set by the route instead of `data`: the relative URL of a redirect. */
  location?: string | undefined;
  /** Set by the route or by a failed authentication: the results of the pushes of this request. */
  pushes?: readonly PushEnded[];
  /** Set by `createEndRequest` at the end of the request: the outcome of a single push, or the rejection. */
  ended?: { readonly outcome?: Success | undefined; readonly rejection?: PushError };
  /** Set by koaTrace if TRACING is on: the trace id, 32 hex digits. */
  traceId?: string;
  /** Set by koaAccessLog if LOG_REQUESTS is on: durations of the stages of this request. */
  stages?: StageTimes;
}

/** Summary of the failed lines of one batch. */
export interface PartialFailure {
  /** Whether at least one of the failed lines may succeed if it is sent again. */
  readonly isRetryable: boolean;
  /** The longest Retry-After of the retryable lines, in seconds; absent if no retryable line has a Retry-After. */
  readonly retryAfter?: number | undefined;
}

/** Creates a request id. @param time the time that the id contains, epoch milliseconds */
export type NewRequestId = (time: number) => string;

/** Sets the time of arrival, the request id and the language of the answer. */
export function koaRequest(clock: Clock, newRequestId: NewRequestId): Middleware<RequestState> {
  return ({ req, state }, next) => {
    state.arrivedAt = clock();
    state.language = languageOf(req.headers['accept-language']);
    state.requestId = newRequestId(state.arrivedAt);
    return next();
  };
}

/** The fields of a push-log entry that come from the HTTP request: the trace id, if TRACING is on. */
export const requestFields = ({ state: { traceId } }: RequestContext): RequestFields => ({
  ...(traceId !== undefined && { traceId }),
});

const QUALITY = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/**
 * @param header Accept-Language (RFC 9110, 12.5.4)
 * @returns the preferred language; of equally preferred languages, the first in the header; Chinese if the header
 *   accepts neither Chinese nor English
 */
export function languageOf(header: string | undefined): Language {
  const [fallback] = LANGUAGES;
  if (header === undefined) return fallback;
  let best: { readonly language: Language; readonly quality: number } | undefined;
  for (const range of header.split(',')) {
    const [tag = '', parameter] = range.split(';').map((part) => part.trim());
    const primary = tag.toLowerCase().split('-')[0];
    const language = LANGUAGES.find((it) => it === primary);
    // An invalid weight counts as 0, so the language is not accepted.
    const quality = parameter === undefined ? 1 : Number(QUALITY.exec(parameter)?.[1] ?? 0);
    if (language && quality > (best?.quality ?? 0)) best = { language, quality };
  }
  return best?.language ?? fallback;
}
