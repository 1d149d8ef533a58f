/** Serves the metrics on the internal port. */
import { withTimeout } from '../../concurrency/timing';
import type { MetricsOptions, PartitionBacklog, RunningMetrics, ServerProbes } from '../options';
import { serveMetrics } from './endpoint';
import { createMetrics, createRegistry, type MetricsRegistry } from './registry';

export async function startPrometheus(options: MetricsOptions): Promise<RunningMetrics> {
  const { type, host, port, operatorPage, log, servers } = options;
  const metricsRegistry = createRegistry(type);
  const text = async () => {
    await readServers(servers, metricsRegistry);
    return metricsRegistry.registry.metrics();
  };
  const { contentType } = metricsRegistry.registry;
  const isReady = () => areServersReady(servers);
  const pages = { contentType, text, isReady };
  const { url, close } = await serveMetrics(pages, { host, port, operatorPage, log });
  return { metrics: createMetrics(metricsRegistry, options), url, close };
}

/** Maximum milliseconds for each call to a server. Must be shorter than the timeout of a scraper. */
const TIMEOUT = 1_000;

/** Updates the metrics of MongoDB, Redis and the queue. Never fails. Removes the metrics that cannot be read. */
export async function readServers(servers: ServerProbes, registry: MetricsRegistry): Promise<void> {
  const { up, waiting, backlogAge, workers } = registry;
  const [isDatabaseUp, isQueueUp, partitions, workerCount] = await Promise.all([
    valueInTime(servers.pingDatabase().then(() => true)),
    valueInTime(servers.pingQueue().then(() => true)),
    valueInTime(servers.partitions()),
    valueInTime(servers.workers()),
  ]);
  up.set({ server: 'mongodb' }, isDatabaseUp ? 1 : 0);
  up.set({ server: 'redis' }, isQueueUp ? 1 : 0);
  if (partitions) {
    waiting.set(partitions.reduce((sum, one) => sum + one.waiting, 0));
    backlogAge.set(Math.max(0, ...partitions.map(secondsWaited)));
  } else {
    waiting.remove();
    backlogAge.remove();
  }
  if (workerCount === undefined) workers.remove();
  else workers.set(workerCount);
}

/** Redis counts as ready even if its memory is full, because workers free the memory. */
export async function areServersReady({
  pingDatabase,
  pingPrimary,
}: ServerProbes): Promise<boolean> {
  const answers = await Promise.all([
    valueInTime(pingDatabase().then(() => true)),
    valueInTime(pingPrimary().then(() => true)),
  ]);
  return answers.every((answer) => answer === true);
}

const secondsWaited = ({ oldestMs }: PartitionBacklog) => (oldestMs ?? 0) / 1000;

/** @returns undefined if the call fails or takes too long */
const valueInTime = <T>(call: Promise<T>): Promise<T | undefined> =>
  withTimeout(call, TIMEOUT).catch(() => undefined);
