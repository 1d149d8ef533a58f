/** The parameters and results of `startMetrics` and `startTracing` (`observability.ts`). */
import type { RequestListener } from 'node:http';
import type { Clock } from '../concurrency/timing';
import type { LogLine } from '../infra/folded-log';
import type { Metrics } from './metrics';
import type { Tracing } from './tracing';

/** The waiting pushes of one partition. */
export interface PartitionBacklog {
  /** Pushes in the partition. */
  readonly waiting: number;
  /** Milliseconds that the oldest push has waited; null if there is none. */
  readonly oldestMs: number | null;
}

/** The checks and reads of MongoDB and Redis that a request for /metrics or /readyz on the internal port needs. */
export interface ServerProbes {
  /** Checks that MongoDB accepts a write, and that no index is missing. */
  pingDatabase(): Promise<unknown>;
  /** Checks that Redis accepts a write, because the queue needs writes. */
  pingQueue(): Promise<unknown>;
  /** Checks that Redis is a primary. The check needs no memory, so it succeeds even if the memory of Redis is full. */
  pingPrimary(): Promise<unknown>;
  partitions(): Promise<readonly PartitionBacklog[]>;
  /** Number of workers of the deployment. */
  workers(): Promise<number>;
}

/** The operator page on the internal port. */
export interface OperatorPage {
  /** Whether the page answers requests with this path. @param path path of a request, without its query */
  readonly handles: (path: string) => boolean;
  readonly handle: RequestListener;
}

export interface MetricsOptions {
  readonly type: 'web' | 'worker';
  /** METRICS_HOST */
  readonly host: string;
  /** METRICS_PORT; 0: metrics are off. */
  readonly port: number;
  readonly operatorPage?: OperatorPage;
  /** Logs requests that the internal port rejects. */
  readonly log: LogLine;
  readonly servers: ServerProbes;
  readonly clock: Clock;
  /** Reads the time of the Redis clock, epoch milliseconds. It rejects if Redis does not answer. */
  readonly redisTime: () => Promise<number>;
}

export interface RunningMetrics {
  readonly metrics: Metrics;
  /** URL of the metrics; undefined if metrics are off. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

export interface TracingOptions {
  /** TRACING */
  readonly on: boolean;
  readonly type: 'web' | 'worker';
  /**
   * Called when the export of spans fails, or when the OpenTelemetry library reports a problem: at most once a minute
   * for failed exports, and at most once a minute for problems of the library.
   *
   * @param suppressed number of calls that were suppressed since `onProblem` was last called. Failed exports and
   *   problems of the library are counted separately
   */
  readonly onProblem: (problem: string, suppressed: number) => void;
}

export interface RunningTracing {
  readonly tracing: Tracing;
  /** Sends the remaining spans, for a few seconds at most; never fails. */
  stop(): Promise<void>;
}
