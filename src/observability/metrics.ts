/** Components report measurements through `Metrics`. Each call must be cheap. */
import type { Outcome } from '../domain/decide';
import type { OperationName } from '../domain/operation';
import type { PushError } from '../protocol/errors';

/** The stages of a push in order. `commit` is a part of `batch`. `wait` is the time in the partition. */
export const STAGES = ['verify', 'log', 'wait', 'batch', 'commit', 'reply'] as const;
export type Stage = (typeof STAGES)[number];

/** One call writes several push-log entries (`log`), or appends several pushes to the queue (`queue`). */
export const GROUPED_CALLS = ['log', 'queue'] as const;
export type GroupedCall = (typeof GROUPED_CALLS)[number];

/** Result of a successful push or request. Queries, dry runs and batches have `ANSWERED`. */
export type Success = Outcome | 'REPLAYED' | 'ANSWERED';

/** Times are in milliseconds. Each `since` is a value of `performance.now()`. */
export interface Metrics {
  /** A request was answered without an error. @param headAt arrival of the headers, epoch milliseconds */
  answered(path: string, headAt: number, outcome: Success): void;
  rejected(path: string, headAt: number, error: PushError): void;
  /** Counts lines of a batch that have the same result. @param operation undefined if unknown */
  lines(operation: OperationName | undefined, count: number, end: Success | PushError): void;
  /** @param count completely received requests that this process has not answered yet */
  inFlight(count: number): void;
  stage(name: Exclude<Stage, 'wait' | 'reply'>, since: number): void;
  /** `now` and `queuedAt` are epoch milliseconds of the Redis clock. */
  batchBegan(pushes: readonly { readonly queuedAt: number }[], now: number): void;
  /** `web` received a message with replies from a worker. @param sentAt epoch milliseconds of the Redis clock */
  replied(sentAt: number): void;
  /** Counts a grouped call. @param size number of log entries or pushes in the call */
  batch(call: GroupedCall, size: number): void;
  /** A write failed because of concurrent writes (`isContention` in `workers/failures.ts`). */
  conflict(): void;
  /** A worker retries a failed commit (`workers/retry.ts`). */
  retried(): void;
  jobFailed(): void;
  jobReclaimed(): void;
  /** A sweep of one shard has ended. @param partitions number of partitions that need a worker */
  swept(partitions: number): void;
  /** `web` found the result of a push in the push log before the reply of the worker arrived. */
  replyLost(): void;
  /** A rejected request was not recorded in the push log (`pushes/rejections.ts`). */
  rejectionUnrecorded(): void;
}

const nothing = () => undefined;

/** For processes without METRICS_PORT. */
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

/** Stages of a request in `web`, for the log line of LOG_REQUESTS. */
export const REQUEST_STAGES = ['verify', 'admit', 'log', 'wait'] as const;
export type RequestStage = (typeof REQUEST_STAGES)[number];

export interface StageTimes {
  /** Adds the time since the previous `mark` to the duration of `stage`. */
  mark(stage: RequestStage): void;
  /** Durations of the ended stages in milliseconds, rounded to a tenth. */
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
