/**
 * Entry of the observability. It starts the exporters of a process: metrics with the internal port, and traces. A
 * library is loaded only if its setting is on. `metrics.ts` and `tracing.ts` have the functions with which components
 * report.
 */
import { NO_METRICS } from './metrics';
import type { MetricsOptions, RunningMetrics, RunningTracing, TracingOptions } from './options';

export type { OperatorPage, PartitionBacklog } from './options';

/** @throws Error whose message names METRICS_HOST and METRICS_PORT, if the process cannot listen on the port */
export async function startMetrics(options: MetricsOptions): Promise<RunningMetrics> {
  if (options.port === 0) {
    return { metrics: NO_METRICS, url: undefined, close: async () => undefined };
  }
  const { startPrometheus } = await import('./metrics/prometheus.js');
  return startPrometheus(options);
}

/** @returns undefined if tracing is off */
export async function startTracing(options: TracingOptions): Promise<RunningTracing | undefined> {
  if (!options.on) return undefined;
  const { startOpenTelemetry } = await import('./tracing/export.js');
  return startOpenTelemetry(options);
}
