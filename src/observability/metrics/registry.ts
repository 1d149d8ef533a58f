/** Every metric of the service with its name, labels and meaning, in the form of Prometheus. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Seconds: from a verified signature to PUSH_TIMEOUT. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The same, to BATCH_TIMEOUT. */
const REQUEST_SECONDS = [...SECONDS, 20, 30];
/** Up to the largest batch. */
const PUSHES = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** @param type of the process; a label of everything that it tells */
export function createRegistry(type: string) {
  const registry = new Registry();
  registry.setDefaultLabels({ process: type });
  const registers = [registry];
  const about = (name: string, help: string) => ({ name: `matter_push_${name}`, help, registers });
  const counter = (name: string, help: string) => new Counter(about(name, help));
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Counter({
      ...about(
        'requests_total',
        'Answered requests of the contract, and the lines of batches, each as a push',
      ),
      labelNames: ['operation', 'outcome', 'reason'],
    }),
    requestSeconds: new Histogram({
      ...about('request_seconds', 'From the head of a request to its answer'),
      labelNames: ['operation'],
      buckets: REQUEST_SECONDS,
    }),
    inFlight: new Gauge(
      about('requests_in_flight', 'Requests of this process that are there and not answered yet'),
    ),
    stageSeconds: new Histogram({
      ...about('stage_seconds', 'Time of one stage of the way of a push'),
      labelNames: ['stage'],
      buckets: SECONDS,
    }),
    batchPushes: new Histogram({
      ...about(
        'partition_batch_pushes',
        'Pushes of a batch that a worker read from its partitions',
      ),
      buckets: PUSHES,
    }),
    batchSize: new Histogram({
      ...about('batch_size', 'What went out together in one call'),
      labelNames: ['batch'],
      buckets: PUSHES,
    }),
    conflicts: counter('guard_conflicts_total', 'Commits that met a change of somebody else'),
    retries: counter('retries_total', 'Work of batches that was done once more'),
    jobsFailed: counter('partition_jobs_failed_total', 'Partition jobs that failed as a whole'),
    jobsReclaimed: counter(
      'partition_jobs_reclaimed_total',
      'Stalled partition jobs that another worker reclaimed',
    ),
    sweeps: counter('sweeps_total', 'Looks into a shard for partitions that nobody works on'),
    sweptPartitions: counter(
      'swept_partitions_total',
      'Partitions that nobody worked on when they were swept',
    ),
    repliesLost: counter('replies_lost_total', 'Settled pushes whose reply was not heard'),
    rejectionsUnrecorded: counter(
      'rejections_unrecorded_total',
      'Rejected requests of known clients that the push log had no room for',
    ),
    waiting: new Gauge(about('queue_waiting', 'Pushes in all partitions, of the whole deployment')),
    backlogAge: new Gauge(
      about('backlog_age_seconds', 'For how long the oldest push of all partitions has waited'),
    ),
    workers: new Gauge(about('workers', 'Worker processes, of the whole deployment')),
    up: new Gauge({
      ...about('up', 'Whether a server answers this process (1) or not (0)'),
      labelNames: ['server'],
    }),
  };
}

export type MetricsRegistry = ReturnType<typeof createRegistry>;
