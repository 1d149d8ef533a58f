/** Defines every metric of the service: its name, its labels, its help text, and the functions that update it. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../concurrency/timing';
import { endpointAt } from '../../protocol/endpoints';
import { PushError } from '../../protocol/errors';
import { BATCH_KINDS, type Metrics, STAGES } from '../metrics';

/** Upper bounds of the buckets for a stage, in seconds: from half a millisecond to the default PUSH_TIMEOUT. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upper bounds of the buckets for a request, in seconds: up to the default BATCH_TIMEOUT. */
const REQUEST_SECONDS = [...SECONDS, 20, 30];
/** Upper bounds of the buckets for a batch or a call, in pushes or items. Larger ones are in the bucket `+Inf`. */
const PUSHES = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** @param type type of the process (`web` or `worker`), which is a label of each metric */
export function createRegistry(type: string) {
  const registry = new Registry();
  registry.setDefaultLabels({ process: type });
  const registers = [registry];
  const optionsOf = (name: string, help: string) => ({
    name: `matter_push_${name}`,
    help,
    registers,
  });
  const counter = (name: string, help: string) => new Counter(optionsOf(name, help));
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Counter({
      ...optionsOf(
        'requests_total',
        'Answered requests of the contract, and the lines of batches, each as a push',
      ),
      labelNames: ['operation', 'outcome', 'reason'],
    }),
    requestSeconds: new Histogram({
      ...optionsOf('request_seconds', 'Duration of a request, from its head to its answer'),
      labelNames: ['operation'],
      buckets: REQUEST_SECONDS,
    }),
    inFlight: new Gauge(optionsOf('requests_in_flight', 'Unanswered requests of this process')),
    stageSeconds: new Histogram({
      ...optionsOf('stage_seconds', 'Duration of one stage of a push'),
      labelNames: ['stage'],
      buckets: SECONDS,
    }),
    batchPushes: new Histogram({
      ...optionsOf(
        'partition_batch_pushes',
        'Pushes of a batch that a worker read from its partitions',
      ),
      buckets: PUSHES,
    }),
    batchSize: new Histogram({
      ...optionsOf('batch_size', 'Items that one MongoDB or Redis call wrote'),
      labelNames: ['batch'],
      buckets: PUSHES,
    }),
    conflicts: counter('guard_conflicts_total', 'Commits that conflicted with another writer'),
    retries: counter('retries_total', 'Repetitions of the work of a batch'),
    jobsFailed: counter('partition_jobs_failed_total', 'Partition jobs that failed as a whole'),
    jobsReclaimed: counter(
      'partition_jobs_reclaimed_total',
      'Stalled partition jobs that another worker reclaimed',
    ),
    sweeps: counter('sweeps_total', 'Sweeps of a shard for partitions without progress'),
    sweptPartitions: counter(
      'swept_partitions_total',
      'Partitions that a sweep found without progress',
    ),
    repliesLost: counter('replies_lost_total', 'Settled pushes whose reply was lost'),
    rejectionsUnrecorded: counter(
      'rejections_unrecorded_total',
      'Rejected requests of known clients that are in no push log, because the limit was reached',
    ),
    waiting: new Gauge(optionsOf('queue_waiting', 'Pushes in all partitions of the deployment')),
    backlogAge: new Gauge(
      optionsOf('backlog_age_seconds', 'Age of the oldest push in all partitions'),
    ),
    workers: new Gauge(optionsOf('workers', 'Worker processes of the deployment')),
    up: new Gauge({
      ...optionsOf('up', 'Whether a server answers this process (1) or not (0)'),
      labelNames: ['server'],
    }),
  };
}

export type MetricsRegistry = ReturnType<typeof createRegistry>;

/** The operation label of a batch line whose operation is unknown. */
const UNKNOWN_LINE = 'batch-line';

/** @param redisTime reads the time of the Redis clock, epoch milliseconds; it rejects if Redis does not answer */
export function createMetrics(
  registry: MetricsRegistry,
  { clock, redisTime }: { readonly clock: Clock; readonly redisTime: () => Promise<number> },
): Metrics {
  const { requests, requestSeconds, stageSeconds, batchPushes, batchSize } = registry;
  const stages = byName(STAGES, (stage) => stageSeconds.labels({ stage }));
  const batches = byName(BATCH_KINDS, (batch) => batchSize.labels({ batch }));
  const count = (path: string, receivedAt: number, outcome: string, reason: string) => {
    // Paths outside the endpoint table have no metrics: callers choose such paths, so the number of label values would
    // have no limit.
    const operation = endpointAt(path)?.name;
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

/** The outcome label of a rejection: FAILED if the service is the cause, REFUSED if the request is the cause. */
const rejectedAs = ({ code }: PushError) => (code >= 500 ? 'FAILED' : 'REFUSED');

/** At least zero, because a duration is negative if the clock was set back. */
const seconds = (ms: number) => Math.max(0, ms) / 1000;

function byName<N extends string, T>(names: readonly N[], make: (name: N) => T): Record<N, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}
