/** Metrics that are kept and served. A library comes with them: loaded only where they are asked for. */
import type { Clock } from '../clock';
import { serveMetrics } from './endpoint';
import type { Metrics } from './metrics';
import { createMetrics } from './observe';
import { readServers, type Servers } from './read-servers';
import { createRegistry } from './registry';

export interface MetricsOptions {
  readonly type: 'web' | 'worker';
  /** METRICS_HOST */
  readonly host: string;
  /** METRICS_PORT; 0: none are kept. */
  readonly port: number;
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

/** @throws Error naming METRICS_HOST and METRICS_PORT where it cannot listen */
export async function startPrometheus(options: MetricsOptions): Promise<RunningMetrics> {
  const { type, host, port, servers } = options;
  const all = createRegistry(type);
  const text = async () => {
    await readServers(servers, all);
    return all.registry.metrics();
  };
  const { contentType } = all.registry;
  const { url, close } = await serveMetrics({ contentType, text }, { host, port });
  return { metrics: createMetrics(all, options), url, close };
}
