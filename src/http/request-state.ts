/** What one request carries through its middleware: `ctx.state`. */
import type { SignedRequest } from '../auth/signed-request';
import type { PushError, RateState } from '../protocol/errors';
import type { IdLines } from '../protocol/id-lines';
import type { Language } from '../protocol/language';
import type { BodyDigest } from '../storage/push-log/entry-model';
import type { Success } from '../telemetry/metrics';
import type { StageTimes } from '../telemetry/stage-times';
import type { BegunLines } from './line-answer';

export interface RequestState {
  /** By koaRequestId; made anew where the caller is authenticated, when the whole request is there. */
  requestId: string;
  /** By koaRequestId: when its head was there, epoch milliseconds. */
  receivedAt: number;
  /** By koaRequestId: what its caller reads. */
  language: Language;
  /** By koaRawBody, for what comes after it in the row. */
  rawBody: Buffer;
  /** By koaHmacAuth, of `matters/orphans` by koaStreamedHmacAuth. */
  signed: SignedRequest;
  /** By koaHmacAuth, of a large body. */
  digest?: BodyDigest | undefined;
  /** By koaStreamedHmacAuth: the list that was sent. */
  ids: IdLines;
  /** By whichever of the two: for the log line. */
  clientId?: string;
  /** Where the client stands with its rate, once it is admitted. */
  rate?: RateState | undefined;
  /** By the route: becomes `data`. */
  data?: unknown;
  /** By the route, beside `data`, where some lines of a batch failed. */
  partial?: PartialFailure;
  /** By the route: lines of a batch; for the log line. */
  lineCounts?: { readonly total: number; readonly failed: number };
  /** By the route, in place of `data` where it is too long for one document. */
  lines?: BegunLines;
  /** By the route, in place of `data` where it is no answer of the service itself. */
  document?: PlainDocument;
  /** By the route, in place of `data` where it is somewhere else: a relative URL. */
  location?: string | undefined;
  /** What a push came to; for metrics and traces. */
  outcome?: Success;
  /** What its caller was told in place of success; for traces. */
  rejection?: PushError;
  /** By koaTrace, where TRACING is on: 32 hex digits. */
  traceId?: string;
  /** By koaAccessLog, where LOG_REQUESTS is on. */
  stages?: StageTimes;
}

/** What the lines of a batch that failed have in common. */
export interface PartialFailure {
  readonly isRetryable: boolean;
  /** Seconds: the longest of those that may succeed later, where one is to wait at all. */
  readonly retryAfter?: number | undefined;
}

/** What is sent as it is, without an envelope. */
export interface PlainDocument {
  readonly bytes: Buffer;
  readonly type: string;
  /** Another one where the bytes are others. */
  readonly etag: string;
  /** Besides the usual ones, or in their place. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Which Host headers it is served for; absent: for all. */
  readonly isServedFor?: (host: string | undefined) => boolean;
}
