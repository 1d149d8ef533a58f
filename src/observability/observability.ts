/**
 * Starts the exporters of a process: Prometheus for metrics, with the internal port, and OpenTelemetry for traces. The
 * library of an exporter is loaded only if the exporter is on. Components report through the functions of `metrics.ts`
 * and `tracing.ts`.
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
