/** The interface of the client: its options, its methods and their results. */
import type { Agent } from 'node:http';
import type { OperationName, PushData, QueryAnswers, QueryName, Verified } from './answers';
import type { DeleteBody, PushBodies, ReopenBody, StatusBody, UpsertBody } from './bodies';
import type { MatterPushError } from './error';

export interface MatterPushClientOptions {
  /** URL of the service, for example `https://portal.example.com`. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  /** Milliseconds for a call with all its tries and waits (default 120,000); Infinity: no deadline. */
  readonly timeout?: number;
  /** Milliseconds for one try (default 30,000). It must be longer than the service's PUSH_TIMEOUT. */
  readonly tryTimeout?: number;
  /** Maximum retries of a call (default 8). Retries after 429 are not counted. */
  readonly retries?: number;
  /** Maximum concurrent calls and batches (default 32). */
  readonly concurrency?: number;
  /**
   * Maximum calls that wait for their turn or their next try (default 10,000). Further calls are rejected with
   * QUEUE_FULL.
   */
  readonly queue?: number;
  /**
   * Combines the pushes of single calls into batches. Each call still has its own result or error, and the pushes of
   * one externalId keep their order.
   */
  readonly autoBatch?: boolean | AutoBatchOptions;
  /** Replaces the client's own connections, for example for a proxy or a certificate. `close` does not destroy it. */
  readonly agent?: Agent;
  /**
   * Called before each retry with the rejection and the milliseconds until the retry. If it throws, the call fails with
   * that error.
   */
  readonly onRetry?: ((rejection: MatterPushError, wait: number) => void) | undefined;
}

export interface AutoBatchOptions {
  /** Maximum pushes in a batch (default 200). By default, the service accepts 1,000. */
  readonly maxItems?: number;
  /** Maximum milliseconds that a call waits for other calls (default 5). */
  readonly maxWait?: number;
}

export interface CallOptions {
  /** Aborts the call. If a request is running at that moment, its result is unknown. */
  readonly signal?: AbortSignal;
}

export interface PushOptions extends CallOptions {
  /**
   * A key for each change: 1 to 255 printable ASCII characters without blanks at the ends. By default, the client
   * creates one.
   */
  readonly idempotencyKey?: string;
}

/** One push in a batch. */
export interface BatchPush {
  readonly operation: OperationName;
  /** A value, or JSON as bytes. Bytes are sent unchanged, except line ends between values and blanks at the ends. */
  readonly body: object | Uint8Array;
  /**
   * A key for each change: 1 to 255 printable ASCII characters without blanks at the ends. By default, the client
   * creates one.
   */
  readonly idempotencyKey?: string;
}

export interface PushResult extends PushData {
  /** The id of the push in the push log. */
  readonly requestId: string;
  /**
   * True if the service repeated the outcome of an earlier push with the same key and body, for example of an earlier
   * try.
   */
  readonly replayed: boolean;
  /** Number of times that the push was sent. */
  readonly tries: number;
}

/**
 * Pushes of one externalId are sent in the order of the calls, each after the end of the previous one. Pushes of
 * different ids are sent in parallel. The client copies a body during the call, so later changes have no effect.
 *
 * @throws (every method except `drain` and `close`) MatterPushError
 */
export interface MatterPushClient {
  upsert(body: UpsertBody, options?: PushOptions): Promise<PushResult>;
  status(body: StatusBody, options?: PushOptions): Promise<PushResult>;
  reopen(body: ReopenBody, options?: PushOptions): Promise<PushResult>;
  delete(body: DeleteBody, options?: PushOptions): Promise<PushResult>;
  /** Sends a push of any operation. The body is a value, or JSON as bytes, which are sent unchanged. */
  push(
    operation: OperationName,
    body: object | Uint8Array,
    options?: PushOptions,
  ): Promise<PushResult>;
  /**
   * Sends many pushes in as few requests as possible. The pushes of one externalId keep their order, also relative to
   * the other calls of the client. Each push has its own count of retries. `timeout` applies to the whole call.
   *
   * @returns the result of each push, in order. A rejection is an element and is not thrown
   * @throws MatterPushError CLOSED or QUEUE_FULL, or TypeError for a body that cannot be written as JSON. In these
   *   cases, no push was sent
   */
  batch(
    pushes: readonly BatchPush[],
    options?: CallOptions,
  ): Promise<(PushResult | MatterPushError)[]>;
  /** A dry run: the service checks the push and writes nothing. */
  verify<Name extends OperationName>(
    operation: Name,
    push: PushBodies[Name],
    options?: PushOptions,
  ): Promise<Verified>;
  /** @returns `data` of the answer, as described in docs/queries.md */
  query<Name extends QueryName>(
    name: Name,
    body: object,
    options?: CallOptions,
  ): Promise<QueryAnswers[Name]>;
  /** Waits until every call has ended. */
  drain(): Promise<void>;
  /**
   * Rejects new calls and starts no more tries. Waiting calls fail with CLOSED. It waits for running requests and
   * then closes the connections. Call `drain` first, so that no call fails.
   */
  close(): Promise<void>;
}
