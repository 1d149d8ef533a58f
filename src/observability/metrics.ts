/**
 * The functions with which components report measurements. Components call them even if METRICS_PORT is not set, so the
 * calls must be cheap: one call reports all pushes that are processed together.
 */
import type { Outcome } from '../domain/decide';
import type { OperationName } from '../domain/operation';
import type { PushError } from '../protocol/errors';

/**
 * The stages of a push, in the order of their start. The first two are in `web`: `verify` the signature, write the
 * `log` entry. Then `wait` in the partition, process the `batch`, `commit` the transaction, `reply` to `web`. The stage
 * `batch` includes `commit`.
 */
export const STAGES = ['verify', 'log', 'wait', 'batch', 'commit', 'reply'] as const;
export type Stage = (typeof STAGES)[number];

/**
 * The writes that `web` makes for several pushes in one call: push-log entries (`log`) or partition items (`queue`).
 */
export const BATCH_KINDS = ['log', 'queue'] as const;
export type BatchKind = (typeof BATCH_KINDS)[number];

/** Result of a request that was not rejected: the outcome of a push, or the answer to a query. */
export type Success = Outcome | 'REPLAYED' | 'ANSWERED';

/** Times are in milliseconds; parameters named `since` are values of `performance.now()`. */
export interface Metrics {
  /**
   * A request was answered and not rejected.
   *
   * @param path path of the request; only paths in the endpoint table are counted
   * @param receivedAt epoch milliseconds
   */
  answered(path: string, receivedAt: number, outcome: Success): void;
  /** A request was rejected. The parameters are as in `answered`. */
  rejected(path: string, receivedAt: number, error: PushError): void;
  /**
   * Lines of a batch ended with the same result. Each line counts as a push, but has no duration of its own.
   *
   * @param operation undefined if the lines cannot be read, or if their batch was rejected as a whole
   */
  lines(operation: OperationName | undefined, count: number, end: Success | PushError): void;
  /** @param count number of requests in flight in this process: complete requests without an answer */
  inFlight(count: number): void;
  /** A stage that began at `since` ends now. */
  stage(name: Exclude<Stage, 'wait' | 'reply'>, since: number): void;
  /** A worker read a batch with these pushes. `now` and `queuedAt` are times of the Redis clock, epoch milliseconds. */
  batchBegan(pushes: readonly { readonly queuedAt: number }[], now: number): void;
  /** The replies in one message of a worker have arrived. @param sentAt time of the Redis clock, epoch milliseconds */
  replied(sentAt: number): void;
  /** One call of `web` wrote `size` log entries or partition items. */
  batch(kind: BatchKind, size: number): void;
  /**
   * A commit failed because another process had changed or locked a document (`isContention` in `workers/failures.ts`).
   */
  conflict(): void;
  /** A worker repeats the work of a batch. */
  retried(): void;
  /** A partition job failed; the sweep schedules it again. */
  jobFailed(): void;
  /** A worker reclaimed a partition job whose worker had stalled. */
  jobReclaimed(): void;
  /** A sweep of one shard has ended. @param partitions number of partitions without progress that the sweep found */
  swept(partitions: number): void;
  /** `web` found the result of a push in the push log, because the reply of the worker did not arrive. */
  replyLost(): void;
  /** A rejected request was not recorded in the push log: too many rejections in a second, or a failed write. */
  rejectionUnrecorded(): void;
}

const nothing = () => undefined;

/** Ignores all measurements, for processes without METRICS_PORT. */
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

// The durations of the stages of one request. The log line of the request shows them (LOG_REQUESTS).

/** Stages of a request in `web`, in order. `wait` is the wait for the final state. A query has only `verify`. */
export const REQUEST_STAGES = ['verify', 'admit', 'log', 'wait'] as const;
export type RequestStage = (typeof REQUEST_STAGES)[number];

export interface StageTimes {
  /** The stage ends now. The stage began when the previous stage ended. The durations of a repeated stage are added. */
  mark(stage: RequestStage): void;
  /** The durations of the stages that have ended, in milliseconds, rounded to a tenth. */
  read(): Partial<Record<RequestStage, number>>;
}

/** @param now milliseconds of a monotonic clock */
export function createStageTimes(now: () => number = () => performance.now()): StageTimes {
  const times: Partial<Record<RequestStage, number>> = {};
  let last = now();
  return {
    mark(stage) {
      const at = now();
      times[stage] = Math.round(((times[stage] ?? 0) + at - last) * 10) / 10;
      last = at;
    },
    read: () => times,
  };
}
