/**
 * What the way of a push tells to traces. Where TRACING is off nobody has a `Tracing`: nothing of the
 * library is loaded, and what is left of it on the way of a push is a look at `undefined`.
 */
import type { mongo } from 'mongoose';

/**
 * W3C trace context, as it stands in HTTP headers and rides in a partition: 55 and at most 512
 * characters.
 */
export interface TraceHeaders {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** A place in a trace. Of meaning to `Tracing` alone. */
export type TracePoint = object;

/** How a request ended. */
export interface RequestEnd {
  readonly requestId: string;
  readonly clientId: string | undefined;
  /** HTTP status. */
  readonly status: number;
  /** What a push came to. */
  readonly outcome: string | undefined;
  readonly rejection: { readonly reason: string; readonly code: number } | undefined;
}

/** A request that is being answered: the span of the server. */
export interface TracedRequest {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Runs what answers it; all that happens within belongs to it. */
  run<T>(answer: () => Promise<T>): Promise<T>;
  /** Once. */
  end(how: RequestEnd): void;
}

/** Of a batch as it was read from its partitions; both times are Redis', epoch milliseconds. */
export interface TracedBatch {
  readonly now: number;
  readonly records: readonly {
    readonly partition: number;
    readonly pushes: readonly TracedPush[];
  }[];
}

export interface TracedPush {
  readonly id: string;
  readonly queuedAt: number;
  readonly operation: { readonly op: string };
  readonly trace?: TraceHeaders;
}

/** What became of one of its pushes. */
export interface TracedReply {
  readonly id: string;
  readonly settlement: {
    readonly state: string;
    readonly outcome?: string;
    readonly reason?: string;
  };
}

export interface Tracing {
  /** Stands in every line that is logged within a trace. */
  logFields(): { readonly traceId?: string };
  /**
   * A request begins. It goes on with the trace of its caller where that sent one; what is no
   * `traceparent` counts as none.
   *
   * @param route a path of the contract: nothing that a caller chooses
   */
  request(method: string, route: string, headers: TraceHeaders): TracedRequest;
  /** Where this is, for `together`. */
  here(): TracePoint;
  /**
   * Runs one piece of work that serves several traces: its span is in the first of those that are
   * recorded, and linked to the others.
   */
  together<T>(name: string, points: readonly TracePoint[], work: () => Promise<T>): Promise<T>;
  /** Hands a push on to a worker: what it has to carry, so that the trace goes on there. */
  send<T>(work: (carried: TraceHeaders) => Promise<T>): Promise<T>;
  /**
   * Runs a batch: one span for it, as in `together`, and one in the trace of each push that tells what
   * became of it.
   */
  batch<R extends TracedReply>(batch: TracedBatch, apply: () => Promise<R[]>): Promise<R[]>;
  /** From now on each command of the database that serves a trace has a span: its name, no values. */
  watchCommands(client: mongo.MongoClient): void;
}
