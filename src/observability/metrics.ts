/**
 * `Metrics`: the functions with which components report measurements. Components call these functions even if
 * METRICS_PORT is not set, so a call must be cheap: one call reports all pushes that are processed together.
 * `StageTimes` measures one request for its log line.
 */
import type { Outcome } from '../domain/decide';
import type { OperationName } from '../domain/operation';
import type { PushError } from '../protocol/errors';

/**
 * The stages of a push, in the order of their start. In `web`: `verify` authenticates the request, `log` writes the
 * push-log entry. The push then has to `wait` in its partition. In a worker: `batch` processes the batch, and includes
 * `commit`, the transaction. `reply` is the time from the worker's message to its arrival in `web`.
 */
export const STAGES = ['verify', 'log', 'wait', 'batch', 'commit', 'reply'] as const;
export type Stage = (typeof STAGES)[number];

/** The grouped calls of `web`: one call writes several push-log entries (`log`) or partition items (`queue`). */
export const GROUPED_CALLS = ['log', 'queue'] as const;
export type GroupedCall = (typeof GROUPED_CALLS)[number];

/** Result of a push or a request that ended without an error. Queries, dry runs and batches have `ANSWERED`. */
export type Success = Outcome | 'REPLAYED' | 'ANSWERED';

/** Times are in milliseconds; parameters named `since` are values of `performance.now()`. */
export interface Metrics {
  /**
   * A request was answered without an error. The results of the lines of a batch are reported with `lines`.
   *
   * @param path path of the request; only the paths of signed endpoints are counted
   * @param headAt when the head of the request arrived, epoch milliseconds
   */
  answered(path: string, headAt: number, outcome: Success): void;
  /** A request ended with `error`. The other parameters are as in `answered`. */
  rejected(path: string, headAt: number, error: PushError): void;
  /**
   * `count` lines of a batch ended with the result `end`. Each line counts as a push, but has no duration of its own.
   *
   * @param operation undefined if the lines cannot be read, or if their batch was rejected as a whole
   */
  lines(operation: OperationName | undefined, count: number, end: Success | PushError): void;
  /** @param count number of requests that this process has received with their whole body and has not answered yet */
  inFlight(count: number): void;
  /** A stage that began at `since` ends now. */
  stage(name: Exclude<Stage, 'wait' | 'reply'>, since: number): void;
  /** A worker read a batch with these pushes. `now` and `queuedAt` are times of the Redis clock, epoch milliseconds. */
  batchBegan(pushes: readonly { readonly queuedAt: number }[], now: number): void;
  /** The replies in one message of a worker have arrived. @param sentAt time of the Redis clock, epoch milliseconds */
  replied(sentAt: number): void;
  /** A grouped call of `web` wrote `size` push-log entries or partition items. */
  batch(call: GroupedCall, size: number): void;
  /**
   * A write of a batch failed because another writer had changed, inserted or locked the same document (`isContention`
   * in `workers/failures.ts`).
   */
  conflict(): void;
  /** A commit failed. Its unsettled pushes are committed again, in smaller commits if possible (`workers/retry.ts`). */
  retried(): void;
  /** A partition job failed; the sweep schedules it again. */
  jobFailed(): void;
  /** A worker reclaimed a stalled partition job of another worker. */
  jobReclaimed(): void;
  /** A sweep of one shard has ended. @param partitions number of partitions without progress that the sweep found */
  swept(partitions: number): void;
  /** `web` found the result of a push in the push log before the reply of the worker arrived. */
  replyLost(): void;
  /**
   * A rejected request was not recorded in the push log: its client had reached the limit of recorded rejections
   * (`BURST` in `pushes/rejections.ts`), or the write failed.
   */
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

/**
 * Stages of a request in `web`, in order. `wait` lasts until the final state of the push. A query, or a request without
 * a valid push, has only `verify`.
 */
export const REQUEST_STAGES = ['verify', 'admit', 'log', 'wait'] as const;
export type RequestStage = (typeof REQUEST_STAGES)[number];

export interface StageTimes {
  /**
   * The stage ends now, and the next stage begins. The first stage began when this object was created.
   * The durations of a repeated stage are added.
   */
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
