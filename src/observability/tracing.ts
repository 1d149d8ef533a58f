/**
 * `Tracing`: the functions with which components create spans. If TRACING is off, components get `undefined` instead of
 * a `Tracing`, and OpenTelemetry is not loaded. A trace is "recorded" if the sampling has selected it: OpenTelemetry
 * exports the spans of recorded traces only.
 */
import type { mongo } from 'mongoose';

/** The W3C trace context, as HTTP headers of a request or as part of a queued push. */
export interface TraceHeaders {
  /** 55 characters. */
  readonly traceparent?: string;
  /** At most 512 characters if it is stored with a push. */
  readonly tracestate?: string;
}

/** The result of a request, for its span. */
export interface RequestEnd {
  readonly requestId: string;
  readonly clientId: string | undefined;
  /** HTTP status. */
  readonly status: number;
  /** Outcome of an accepted push. */
  readonly outcome: string | undefined;
  readonly rejection: { readonly reason: string; readonly code: number } | undefined;
}

/** The span of a request that is being answered. */
export interface TracedRequest {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Runs the handlers of the request. Spans that the handlers create are children of this span. */
  run<T>(answer: () => Promise<T>): Promise<T>;
  /** Ends the span. Must be called once. */
  end(result: RequestEnd): void;
}

/** A batch that a worker read. */
export interface TracedBatch {
  /** Time of the Redis clock when the worker read the batch, epoch milliseconds. */
  readonly now: number;
  readonly records: readonly {
    readonly partition: number;
    readonly pushes: readonly TracedPush[];
  }[];
}

export interface TracedPush {
  readonly id: string;
  /** Time of the Redis clock, epoch milliseconds. */
  readonly queuedAt: number;
  readonly operation: { readonly op: string };
  readonly trace?: TraceHeaders;
}

/** The result of one push of a batch. */
export interface TracedReply {
  readonly id: string;
  readonly settlement: {
    readonly state: string;
    readonly outcome?: string;
    readonly reason?: string;
  };
}

export interface Tracing {
  /** The fields that the logger adds to each line that is logged within a trace. */
  logFields(): { readonly traceId?: string };
  /**
   * Starts the span of a request. If `traceparent` is valid, the span belongs to the trace of the caller. Otherwise the
   * span starts a new trace.
   *
   * @param route path of a signed endpoint, and part of the span's name. A path that a caller invented is not allowed,
   *   because the number of span names would have no limit
   */
  request(method: string, route: string, headers: TraceHeaders): TracedRequest;
  /** The active span and its trace, for a later call of `together`. */
  here(): object;
  /**
   * Runs work that belongs to several traces, such as one write for several pushes. The work has one span, in the first
   * recorded trace. This span has links to the other recorded traces.
   *
   * @param points results of `here`
   */
  together<T>(name: string, points: readonly object[], work: () => Promise<T>): Promise<T>;
  /**
   * Runs work that queues a push. The work has a span of its own.
   *
   * @param work gets the trace context to store with the push, so that the worker continues the trace
   */
  send<T>(work: (carried: TraceHeaders) => Promise<T>): Promise<T>;
  /**
   * Runs a batch. The batch has one span, as in `together`. Each push of a recorded trace also has a span in that
   * trace, with the result of the push.
   *
   * @param apply processes the batch
   */
  batch<R extends TracedReply>(batch: TracedBatch, apply: () => Promise<R[]>): Promise<R[]>;
  /**
   * From now on, creates a span for each database command within a recorded trace. The span has the names of the
   * command and of its collection, but no values.
   */
  watchCommands(client: mongo.MongoClient): void;
}
