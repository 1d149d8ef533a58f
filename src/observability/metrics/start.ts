/** Metrics of a process: kept and served where it has a METRICS_PORT, otherwise nothing is loaded. */
import { NO_METRICS } from '../../telemetry/metrics';
import type { MetricsOptions, RunningMetrics } from './options';

/** @throws Error naming METRICS_HOST and METRICS_PORT where it cannot listen */
export async function startMetrics(options: MetricsOptions): Promise<RunningMetrics> {
  if (options.port === 0) {
    return { metrics: NO_METRICS, url: undefined, close: async () => undefined };
  }
  const { startPrometheus } = await import('./prometheus.js');
  return startPrometheus(options);
}
