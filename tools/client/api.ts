/** What the client is given, what it can do, and what it answers with. */
import type { Agent } from 'node:http';
import type { OperationName, PushData, QueryAnswers, QueryName, Verified } from './answers';
import type { DeleteBody, PushBodies, ReopenBody, StatusBody, UpsertBody } from './bodies';
import type { MatterPushError } from './error';

export interface MatterPushClientOptions {
  /** Of the service, for example `https://portal.example.com`. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  /** Milliseconds for a call with all its tries and waits (120,000); Infinity: no deadline. */
  readonly timeout?: number;
  /** Milliseconds for one try (30,000): longer than the service's PUSH_TIMEOUT. */
  readonly tryTimeout?: number;
  /** Most tries after the first (8); being told to slow down is not counted. */
  readonly retries?: number;
  /** Calls that are under way at the same time (32). */
  readonly concurrency?: number;
  /** Calls that may wait for their turn or their next try (10,000); beyond it a call is rejected with QUEUE_FULL. */
  readonly queue?: number;
  /**
   * Gathers pushes that are called one by one into batches. Each call still has a result or an error
   * of its own, and those of one externalId keep their order.
   */
  readonly autoBatch?: boolean | AutoBatchOptions;
  /** In place of the client's own connections, for a proxy or a certificate; `close` leaves it open. */
  readonly agent?: Agent;
  /**
   * Told of each rejection after which a call is sent again, and in how many milliseconds. What it
   * throws, the call fails with.
   */
  readonly onRetry?: ((rejection: MatterPushError, wait: number) => void) | undefined;
}

export interface AutoBatchOptions {
  /** Most pushes of a batch (200): the service takes 1,000 by default. */
  readonly maxItems?: number;
  /** Milliseconds that a call may wait for others (5). */
  readonly maxWait?: number;
}

export interface CallOptions {
  /** Gives the call up, also while a try is under way: then nobody knows what became of it. */
  readonly signal?: AbortSignal;
}

export interface PushOptions extends CallOptions {
  /** One per change, 1 to 255 printable ASCII characters, no blank at its ends; a push without one is given one. */
  readonly idempotencyKey?: string;
}

/** One push of a batch. */
export interface BatchPush {
  readonly operation: OperationName;
  /** A value, or its JSON as bytes: sent as they are, but for line ends between values and blanks at the ends. */
  readonly body: object | Uint8Array;
  /** One per change, 1 to 255 printable ASCII characters, no blank at its ends; a push without one is given one. */
  readonly idempotencyKey?: string;
}

export interface PushResult extends PushData {
  /** Finds it in the push log. */
  readonly requestId: string;
  /** The outcome of an earlier try, or of an earlier push with the same key and body, was repeated. */
  readonly replayed: boolean;
  /** How often it was sent. */
  readonly tries: number;
}

/**
 * Pushes of one externalId are sent in the order of the calls, each after the one before it has
 * ended; others side by side. Bodies are taken as they are at the time of the call.
 *
 * @throws (every method but the last two) MatterPushError
 */
export interface MatterPushClient {
  upsert(body: UpsertBody, options?: PushOptions): Promise<PushResult>;
  status(body: StatusBody, options?: PushOptions): Promise<PushResult>;
  reopen(body: ReopenBody, options?: PushOptions): Promise<PushResult>;
  delete(body: DeleteBody, options?: PushOptions): Promise<PushResult>;
  /** Any of them, with a body from elsewhere: a value, or its JSON as bytes, sent as they are. */
  push(
    operation: OperationName,
    body: object | Uint8Array,
    options?: PushOptions,
  ): Promise<PushResult>;
  /**
   * Many of them, in as few requests as possible, those of one externalId in their order. What is
   * retryable is sent again, each push by its own count: `timeout` is that of all of it. It keeps the
   * order with the other calls of the client, too.
   *
   * @returns what became of each, in their order: a rejection is an element, and not thrown
   * @throws MatterPushError CLOSED or QUEUE_FULL, or TypeError for a body that cannot be written as JSON: nothing
   *   was sent then
   */
  batch(
    pushes: readonly BatchPush[],
    options?: CallOptions,
  ): Promise<(PushResult | MatterPushError)[]>;
  /** A dry run: nothing is written. */
  verify<Name extends OperationName>(
    operation: Name,
    push: PushBodies[Name],
    options?: PushOptions,
  ): Promise<Verified>;
  /** @returns `data` of the answer, as docs/queries.md has it */
  query<Name extends QueryName>(
    name: Name,
    body: object,
    options?: CallOptions,
  ): Promise<QueryAnswers[Name]>;
  /** Waits until every call has ended. */
  drain(): Promise<void>;
  /**
   * Takes no more calls and begins no more tries; those that wait fail with CLOSED. Waits for the
   * tries that are under way and closes the connections. To lose none, `drain` first.
   */
  close(): Promise<void>;
}
