/** From what the service does to what its metrics say. */
import type { Clock } from '../../concurrency/clock';
import { OPERATIONS } from '../../domain/operation';
import { PushError } from '../../protocol/errors';
import {
  BATCH,
  BATCH_PATH,
  ORPHANS,
  pushPath,
  QUERIES,
  queryPath,
  VERIFY,
  VERIFY_BATCH,
} from '../../protocol/paths';
import { BATCH_KINDS, type Metrics, STAGES } from '../../telemetry/metrics';
import type { MetricsRegistry } from './registry';

/** By path. Labels are names of the contract alone, whatever callers ask for. */
const OPERATION_OF = new Map<string, string>([
  ...OPERATIONS.map((name) => [pushPath(name), name] as const),
  ...QUERIES.map((name) => [queryPath(name), name] as const),
  [queryPath(ORPHANS), ORPHANS],
  [queryPath(VERIFY), VERIFY],
  [BATCH_PATH, BATCH],
  [queryPath(VERIFY_BATCH), VERIFY_BATCH],
]);

/** In place of the operation of a line that nobody knows. */
const UNKNOWN_LINE = 'batch-line';

/** @param redisTime what time it is for Redis, epoch milliseconds; it may reject */
export function createMetrics(
  registry: MetricsRegistry,
  { clock, redisTime }: { readonly clock: Clock; readonly redisTime: () => Promise<number> },
): Metrics {
  const { requests, requestSeconds, stageSeconds, batchPushes, batchSize } = registry;
  const stages = byName(STAGES, (stage) => stageSeconds.labels({ stage }));
  const batches = byName(BATCH_KINDS, (batch) => batchSize.labels({ batch }));
  const count = (path: string, receivedAt: number, outcome: string, reason: string) => {
    const operation = OPERATION_OF.get(path);
    if (operation === undefined) return;
    requests.inc({ operation, outcome, reason });
    requestSeconds.observe({ operation }, seconds(clock() - receivedAt));
  };
  return {
    answered: (path, receivedAt, outcome) => count(path, receivedAt, outcome, ''),
    rejected: (path, receivedAt, error) => count(path, receivedAt, rejectedAs(error), error.reason),
    lines: (name, lines, end) => {
      const operation = name ?? UNKNOWN_LINE;
      const isRejected = end instanceof PushError;
      const outcome = isRejected ? rejectedAs(end) : end;
      requests.inc({ operation, outcome, reason: isRejected ? end.reason : '' }, lines);
    },
    inFlight: (requests) => registry.inFlight.set(requests),
    stage: (name, since) => stages[name].observe(seconds(performance.now() - since)),
    batchBegan: (pushes, now) => {
      batchPushes.observe(pushes.length);
      for (const { queuedAt } of pushes) stages.wait.observe(seconds(now - queuedAt));
    },
    replied: (sentAt) => {
      redisTime().then(
        (now) => stages.reply.observe(seconds(now - sentAt)),
        () => undefined,
      );
    },
    batch: (kind, size) => batches[kind].observe(size),
    conflict: () => registry.conflicts.inc(),
    retried: () => registry.retries.inc(),
    jobFailed: () => registry.jobsFailed.inc(),
    jobReclaimed: () => registry.jobsReclaimed.inc(),
    swept: (partitions) => {
      registry.sweeps.inc();
      registry.sweptPartitions.inc(partitions);
    },
    replyLost: () => registry.repliesLost.inc(),
    rejectionUnrecorded: () => registry.rejectionsUnrecorded.inc(),
  };
}

/** Ours, not the caller's. */
const rejectedAs = ({ code }: PushError) => (code >= 500 ? 'FAILED' : 'REFUSED');

/** Clocks are set back now and then. */
const seconds = (ms: number) => Math.max(0, ms) / 1000;

function byName<N extends string, T>(names: readonly N[], make: (name: N) => T): Record<N, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}
