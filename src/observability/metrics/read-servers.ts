/** What is read only when somebody asks: how the servers are, and what they hold. */
import { withTimeout } from '../../concurrency/timeout';
import type { PartitionAge, Servers } from './options';
import type { MetricsRegistry } from './registry';

/** Milliseconds: a server that is silent for longer counts as away. Scrapers wait for some seconds. */
const TIMEOUT = 1_000;

/** Never fails, and is over in time. What cannot be known is not told, rather than told as it was. */
export async function readServers(servers: Servers, registry: MetricsRegistry): Promise<void> {
  const { up, waiting, backlogAge, workers } = registry;
  const [database, queue, partitions, count] = await Promise.all([
    inTime(servers.pingDatabase().then(() => true)),
    inTime(servers.pingQueue().then(() => true)),
    inTime(servers.partitions()),
    inTime(servers.workers()),
  ]);
  up.set({ server: 'mongodb' }, database ? 1 : 0);
  up.set({ server: 'redis' }, queue ? 1 : 0);
  if (partitions) {
    waiting.set(partitions.reduce((sum, one) => sum + one.waiting, 0));
    backlogAge.set(Math.max(0, ...partitions.map(secondsWaited)));
  } else {
    waiting.remove();
    backlogAge.remove();
  }
  if (count === undefined) workers.remove();
  else workers.set(count);
}

/**
 * Whether a process that serves no callers can do its work. A Redis that is full counts as there: workers
 * are who makes room in it.
 */
export async function areServersReady({ pingDatabase, pingPrimary }: Servers): Promise<boolean> {
  const answers = await Promise.all([
    inTime(pingDatabase().then(() => true)),
    inTime(pingPrimary().then(() => true)),
  ]);
  return answers.every((answer) => answer === true);
}

const secondsWaited = ({ oldestMs }: PartitionAge) => (oldestMs ?? 0) / 1000;

/** @returns undefined where the call fails or takes too long: that the server is away is what is told */
const inTime = <T>(call: Promise<T>): Promise<T | undefined> =>
  withTimeout(call, TIMEOUT).catch(() => undefined);
