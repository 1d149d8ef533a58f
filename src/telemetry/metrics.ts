/**
 * What the service tells about itself while it works. Whoever does the work calls these, wherever
 * METRICS_PORT is set or not: where it is not, nothing is kept. So they take plain numbers, and where
 * many pushes are worked on together they are called once for all.
 */
import type { Outcome } from '../domain/decide';
import type { OperationName } from '../domain/operation';
import type { PushError } from '../protocol/errors';

/** The way of a push, in its order. */
export const STAGES = ['verify', 'log', 'wait', 'batch', 'commit', 'reply'] as const;
export type Stage = (typeof STAGES)[number];

/** Calls that carry many pushes at once: entries into the push log, pushes into their partitions. */
export const BATCH_KINDS = ['log', 'queue'] as const;
export type BatchKind = (typeof BATCH_KINDS)[number];

/** How a request went that was not rejected: what a push came to, or the answer of a query. */
export type Success = Outcome | 'REPLAYED' | 'ANSWERED';

/** Times are in milliseconds, those named `since` by `performance.now()`. */
export interface Metrics {
  /**
   * @param path of the request; only those of the contract are counted
   * @param receivedAt epoch milliseconds
   */
  answered(path: string, receivedAt: number, outcome: Success): void;
  rejected(path: string, receivedAt: number, error: PushError): void;
  /**
   * Lines of a batch that ended alike: each counts as a push, and none has a time of its own.
   *
   * @param operation undefined where nobody knows it: the line cannot be read, or its batch was rejected as a whole
   */
  lines(operation: OperationName | undefined, count: number, end: Success | PushError): void;
  /** @param count of requests whose bodies are there and which are not answered, of this process */
  inFlight(count: number): void;
  /** A stage ends now. */
  stage(name: Exclude<Stage, 'wait' | 'reply'>, since: number): void;
  /** A batch with these pushes was read at `now`; both times are Redis'. */
  batchBegan(pushes: readonly { readonly queuedAt: number }[], now: number): void;
  /** The last push of a worker's message is told. @param sentAt Redis time, epoch milliseconds */
  replied(sentAt: number): void;
  batch(kind: BatchKind, size: number): void;
  /** A guard failed, or somebody else held what was to be written: see isContention. */
  conflict(): void;
  /** Work of a batch is done once more. */
  retried(): void;
  /** A partition job failed as a whole; the sweep schedules it again. */
  jobFailed(): void;
  /** A worker reclaimed a partition job whose worker had stalled. */
  jobReclaimed(): void;
  /** @param partitions that held pushes */
  swept(partitions: number): void;
  /** A push was settled, and its web process found that in the log, not in its inbox. */
  replyLost(): void;
  /** A rejection is in no push log: there was no room for it. */
  rejectionUnrecorded(): void;
}

const nothing = () => undefined;

/** METRICS_PORT is not set. */
export const NO_METRICS: Metrics = {
  answered: nothing,
  rejected: nothing,
  lines: nothing,
  inFlight: nothing,
  stage: nothing,
  batchBegan: nothing,
  replied: nothing,
  batch: nothing,
  conflict: nothing,
  retried: nothing,
  jobFailed: nothing,
  jobReclaimed: nothing,
  swept: nothing,
  replyLost: nothing,
  rejectionUnrecorded: nothing,
};
