/** The parameters and results of `startMetrics` and `startTracing` (`observability.ts`). */
import type { RequestListener } from 'node:http';
import type { Clock } from '../concurrency/timing';
import type { LogLine } from '../infra/folded-log';
import type { Metrics } from './metrics';
import type { Tracing } from './tracing';

export interface PartitionBacklog {
  readonly waiting: number;
  /** Age of the oldest waiting push, milliseconds; null if no push waits. */
  readonly oldestMs: number | null;
}

/** Checks and queries of MongoDB and Redis, for /metrics and /readyz. */
export interface ServerProbes {
  /** Checks that MongoDB accepts a write, and that no index is missing. */
  pingDatabase(): Promise<unknown>;
  /** Checks that Redis accepts a write. */
  pingQueue(): Promise<unknown>;
  /** Checks that Redis is a primary. */
  pingPrimary(): Promise<unknown>;
  partitions(): Promise<readonly PartitionBacklog[]>;
  workers(): Promise<number>;
}

export interface OperatorPage {
  /** @param path request path without the query */
  readonly handles: (path: string) => boolean;
  readonly handle: RequestListener;
}

export interface MetricsOptions {
  readonly type: 'web' | 'worker';
  readonly host: string;
  /** METRICS_PORT; 0: metrics are off. */
  readonly port: number;
  readonly operatorPage?: OperatorPage;
  readonly log: LogLine;
  readonly servers: ServerProbes;
  readonly clock: Clock;
  /** Redis time, epoch milliseconds. @throws if Redis does not answer */
  readonly redisTime: () => Promise<number>;
}

export interface RunningMetrics {
  readonly metrics: Metrics;
  /** URL of the metrics; undefined if metrics are off. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

export interface TracingOptions {
  readonly on: boolean;
  readonly type: 'web' | 'worker';
  /**
   * Called for failed exports and for warnings of the OpenTelemetry library, each at most once a minute.
   *
   * @param suppressed number of these problems that were not reported since the previous call
   */
  readonly onProblem: (problem: string, suppressed: number) => void;
}

export interface RunningTracing {
  readonly tracing: Tracing;
  /** Sends the remaining spans. Never fails. */
  stop(): Promise<void>;
}
