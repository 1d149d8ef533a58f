/**
 * Starts the export of metrics (Prometheus) and traces (OpenTelemetry).
 * The libraries of disabled exports are not loaded.
 */
import { NO_METRICS } from './metrics';
import type { MetricsOptions, RunningMetrics, RunningTracing, TracingOptions } from './options';

export type { OperatorPage, PartitionBacklog } from './options';

/** @throws Error if the process cannot listen on METRICS_PORT */
export async function startMetrics(options: MetricsOptions): Promise<RunningMetrics> {
  if (options.port === 0) {
    return { metrics: NO_METRICS, url: undefined, close: async () => undefined };
  }
  const { startPrometheus } = await import('./metrics/prometheus.js');
  return startPrometheus(options);
}

export async function startTracing(options: TracingOptions): Promise<RunningTracing | undefined> {
  if (!options.on) return undefined;
  const { startOpenTelemetry } = await import('./tracing/export.js');
  return startOpenTelemetry(options);
}
