/** Metrics that are kept and served. A library comes with them: loaded only where they are asked for. */
import { serveMetrics } from './endpoint';
import { createMetrics } from './observe';
import type { MetricsOptions, RunningMetrics } from './options';
import { areServersReady, readServers } from './read-servers';
import { createRegistry } from './registry';

/** @throws Error naming METRICS_HOST and METRICS_PORT where it cannot listen */
export async function startPrometheus(options: MetricsOptions): Promise<RunningMetrics> {
  const { type, host, port, beside, tell, servers } = options;
  const all = createRegistry(type);
  const text = async () => {
    await readServers(servers, all);
    return all.registry.metrics();
  };
  const { contentType } = all.registry;
  const isReady = () => areServersReady(servers);
  const pages = { contentType, text, isReady };
  const { url, close } = await serveMetrics(pages, { host, port, beside, tell });
  return { metrics: createMetrics(all, options), url, close };
}
