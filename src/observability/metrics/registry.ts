/** Defines every metric of the service. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../concurrency/timing';
import { endpointAt } from '../../protocol/endpoints';
import { PushError } from '../../protocol/errors';
import { GROUPED_CALLS, type Metrics, STAGES } from '../metrics';

/** Upper bounds of the buckets for a stage, in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upper bounds of the buckets for a request, in seconds. */
const REQUEST_SECONDS = [...SECONDS, 20, 30];
/** Upper bounds of the buckets of `batchPushes` and `batchSize`. */
const PUSHES = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** @param type `web` or `worker` */
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
        'Answered requests to signed endpoints, plus the lines of batches',
      ),
      labelNames: ['operation', 'outcome', 'reason'],
    }),
    requestSeconds: new Histogram({
      ...optionsOf('request_seconds', 'Time from the arrival of the request headers to the answer'),
      labelNames: ['operation'],
      buckets: REQUEST_SECONDS,
    }),
    inFlight: new Gauge(
      optionsOf('requests_in_flight', 'Completely received requests that are not answered yet'),
    ),
    stageSeconds: new Histogram({
      ...optionsOf('stage_seconds', 'Duration of one stage of a push'),
      labelNames: ['stage'],
      buckets: SECONDS,
    }),
    batchPushes: new Histogram({
      ...optionsOf('partition_batch_pushes', 'Pushes in one batch of a worker'),
      buckets: PUSHES,
    }),
    batchSize: new Histogram({
      ...optionsOf(
        'batch_size',
        'Log entries (log) or queued pushes (queue) that web wrote in one call',
      ),
      labelNames: ['batch'],
      buckets: PUSHES,
    }),
    conflicts: counter(
      'guard_conflicts_total',
      'Commits that failed because another writer had changed or locked a document',
    ),
    retries: counter('retries_total', 'Failed commits that a worker retried'),
    jobsFailed: counter(
      'partition_jobs_failed_total',
      'Partition jobs that failed; a sweep schedules them again',
    ),
    jobsReclaimed: counter(
      'partition_jobs_reclaimed_total',
      'Stalled partition jobs that another worker reclaimed',
    ),
    sweeps: counter('sweeps_total', 'Sweeps of a shard for partitions without progress'),
    sweptPartitions: counter(
      'swept_partitions_total',
      'Partitions without progress that sweeps found',
    ),
    repliesLost: counter(
      'replies_lost_total',
      'Pushes whose result web found in the push log before the reply arrived',
    ),
    rejectionsUnrecorded: counter(
      'rejections_unrecorded_total',
      'Rejected requests of known clients without an entry in the push log',
    ),
    waiting: new Gauge(
      optionsOf('queue_waiting', 'Waiting pushes in all partitions of the deployment'),
    ),
    backlogAge: new Gauge(
      optionsOf('backlog_age_seconds', 'Age of the oldest waiting push in all partitions'),
    ),
    workers: new Gauge(optionsOf('workers', 'Worker processes of the deployment')),
    up: new Gauge({
      ...optionsOf('up', '1 if this process can write to the server, otherwise 0'),
      labelNames: ['server'],
    }),
  };
}

export type MetricsRegistry = ReturnType<typeof createRegistry>;

const UNKNOWN_LINE = 'batch-line';

/** @param redisTime returns epoch milliseconds of the Redis clock */
export function createMetrics(
  registry: MetricsRegistry,
  { clock, redisTime }: { readonly clock: Clock; readonly redisTime: () => Promise<number> },
): Metrics {
  const { requests, requestSeconds, stageSeconds, batchPushes, batchSize } = registry;
  const stages = byName(STAGES, (stage) => stageSeconds.labels({ stage }));
  const groupedCalls = byName(GROUPED_CALLS, (batch) => batchSize.labels({ batch }));
  const count = (path: string, headAt: number, outcome: string, reason: string) => {
    // Only signed endpoints are counted, because callers can invent any number of other paths.
    const operation = endpointAt(path)?.name;
    if (operation === undefined) return;
    requests.inc({ operation, outcome, reason });
    requestSeconds.observe({ operation }, seconds(clock() - headAt));
  };
  return {
    answered: (path, headAt, outcome) => count(path, headAt, outcome, ''),
    rejected: (path, headAt, error) => count(path, headAt, rejectedAs(error), error.reason),
    lines: (name, lines, end) => {
      const operation = name ?? UNKNOWN_LINE;
      const isRejected = end instanceof PushError;
      const outcome = isRejected ? rejectedAs(end) : end;
      requests.inc({ operation, outcome, reason: isRejected ? end.reason : '' }, lines);
    },
    inFlight: (unanswered) => registry.inFlight.set(unanswered),
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
    batch: (call, size) => groupedCalls[call].observe(size),
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

const rejectedAs = ({ code }: PushError) => (code >= 500 ? 'FAILED' : 'REFUSED');

/** A duration can be negative, because clocks can be set back. */
const seconds = (ms: number) => Math.max(0, ms) / 1000;

function byName<N extends string, T>(names: readonly N[], make: (name: N) => T): Record<N, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}
