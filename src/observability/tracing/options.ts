/** What traces need of their process, and what it gets. */
import type { Tracing } from '../../telemetry/tracing';

export interface TracingOptions {
  /** TRACING */
  readonly on: boolean;
  readonly type: 'web' | 'worker';
  /** Told what keeps spans from the collector; at most once a minute for each of two reasons. */
  readonly trouble: (problem: string, untold: number) => void;
}

export interface RunningTracing {
  readonly tracing: Tracing;
  /** Sends what is left, for a few seconds at most; never fails. */
  stop(): Promise<void>;
}
