/** What metrics need of their process, and what it gets. */
import type { RequestListener } from 'node:http';
import type { Clock } from '../../concurrency/clock';
import type { TellLine } from '../../runtime/folded-log';
import type { Metrics } from '../../telemetry/metrics';

export interface PartitionAge {
  /** Pushes in the partition. */
  readonly waiting: number;
  /** Milliseconds for which the first of them has waited; null where there is none. */
  readonly oldestMs: number | null;
}

/** Asked when somebody looks. */
export interface Servers {
  pingDatabase(): Promise<unknown>;
  /** By a write: without writes the queue does not work. */
  pingQueue(): Promise<unknown>;
  /** Without a write: a primary that is full answers it. */
  pingPrimary(): Promise<unknown>;
  partitions(): Promise<readonly PartitionAge[]>;
  /** How many workers there are. */
  workers(): Promise<number>;
}

/** What else is shown on the port. */
export interface Beside {
  /** @param path of a request, without its query */
  readonly owns: (path: string) => boolean;
  readonly answer: RequestListener;
}

export interface MetricsOptions {
  readonly type: 'web' | 'worker';
  /** METRICS_HOST */
  readonly host: string;
  /** METRICS_PORT; 0: none are kept. */
  readonly port: number;
  /** Shown on that port too. */
  readonly beside?: Beside;
  /** Logs requests that the port rejects. */
  readonly tell: TellLine;
  readonly servers: Servers;
  readonly clock: Clock;
  /** What time it is for Redis, epoch milliseconds; it may reject. */
  readonly redisTime: () => Promise<number>;
}

export interface RunningMetrics {
  readonly metrics: Metrics;
  /** Where they are served; undefined where they are not kept. */
  readonly url: string | undefined;
  close(): Promise<void>;
}
