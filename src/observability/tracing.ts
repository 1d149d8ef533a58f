/** Components create spans through `Tracing`. A recorded trace is a trace that sampling has selected for export. */
import type { mongo } from 'mongoose';

/** The W3C trace context of a request or of a queued push. */
export interface TraceHeaders {
  /** 55 characters. */
  readonly traceparent?: string;
  readonly tracestate?: string;
}

export interface RequestEnd {
  readonly requestId: string;
  readonly clientId: string | undefined;
  readonly status: number;
  /** Outcome of an accepted push. */
  readonly outcome: string | undefined;
  readonly rejection: { readonly reason: string; readonly code: number } | undefined;
}

export interface TracedRequest {
  /** 32 hex digits. */
  readonly traceId: string;
  /** New spans in `answer` become children of the request span. */
  run<T>(answer: () => Promise<T>): Promise<T>;
  /** Must be called once. */
  end(result: RequestEnd): void;
}

export interface TracedBatch {
  /** Redis time at which the worker read the batch, in epoch milliseconds. */
  readonly now: number;
  readonly records: readonly {
    readonly partition: number;
    readonly pushes: readonly TracedPush[];
  }[];
}

export interface TracedPush {
  readonly id: string;
  /** Epoch milliseconds of the Redis clock. */
  readonly queuedAt: number;
  readonly operation: { readonly op: string };
  readonly trace?: TraceHeaders;
}

export interface TracedReply {
  readonly id: string;
  readonly settlement: {
    readonly state: string;
    readonly outcome?: string;
    readonly reason?: string;
  };
}

export interface Tracing {
  /** Fields for each log line within a trace. */
  logFields(): { readonly traceId?: string };
  /**
   * Starts the span of a request. A valid `traceparent` continues the trace of the caller.
   *
   * @param route path of a signed endpoint
   */
  request(method: string, route: string, headers: TraceHeaders): TracedRequest;
  /** The active span, as an argument for `together`. */
  here(): object;
  /**
   * Runs work of several traces in one span. The span belongs to the first recorded trace.
   *
   * @param points results of `here`
   */
  together<T>(name: string, points: readonly object[], work: () => Promise<T>): Promise<T>;
  /** Runs `work` in a new span. `work` must queue its pushes with the trace context `carried`. */
  send<T>(work: (carried: TraceHeaders) => Promise<T>): Promise<T>;
  /** Runs `apply` in a span for the batch. Adds a span for each push of a recorded trace. */
  batch<R extends TracedReply>(batch: TracedBatch, apply: () => Promise<R[]>): Promise<R[]>;
  /** Creates a span for each database command in a recorded trace. The span contains no data of a push. */
  traceCommands(client: mongo.MongoClient): void;
}
