/** The Redis of a run: one address, a Sentinel group or a Cluster. */
import { allSettledOrThrow } from '../local/waiting';
import type { Ground, Member } from './member';
import { ProcessWays } from './process-ways';
import { allWays, type Way } from './proxy';
import { startRedisCluster } from './redis-cluster';
import type { RedisNode } from './redis-node';
import { startRedisPair } from './redis-pair';
import { startSentinelGroup } from './redis-sentinel';

export const REDIS_FORMS = ['single', 'sentinel', 'cluster'] as const;
export type RedisForm = (typeof REDIS_FORMS)[number];

/** Its `kill` and `restart` are of all servers that hold data, or of the one that is the primary. */
export interface RedisServers extends Member {
  /** Past the proxies with the faults. */
  readonly url: string;
  /** As the processes have it; each is told its ways. */
  readonly processUrl: string;
  /** The way of all processes; of a group nothing happens to it. */
  readonly proxy: Way;
  /** The way of one process. */
  wayOf(process: string): Way;
  /** By the port of a server, the port of the proxy of a process. */
  waysOf(process: string): Readonly<Record<string, number>>;
  /** Of one address: see RedisPair. */
  failOver(meanwhile: () => Promise<void>): Promise<void>;
  /** Of a group. */
  readonly group?: RedisGroup;
}

/** What is done to the servers of a group, one by one. */
export interface RedisGroup {
  /** @param key the one that holds it, in a Cluster */
  primary(key: string): Promise<Member>;
  /** An operator has a replica take over. @param key of its primary, in a Cluster */
  switchOver(key: string): Promise<void>;
  /** Resolves once all of them serve, and would survive another failover. */
  whole(): Promise<void>;
}

interface RedisOptions {
  readonly form: RedisForm;
  /** How many there are behind one address, 2 to fail over; a group has its own number. */
  readonly size: 1 | 2;
  /** Those that have a way of their own; all share one where it is not given. */
  readonly processes?: readonly string[];
}

export async function startRedisServers(
  ground: Ground,
  { form, size, processes }: RedisOptions,
): Promise<RedisServers> {
  if (form === 'single') return startRedisPair(ground, size, processes);
  const waysTo = (servers: readonly RedisNode[]) =>
    ProcessWays.open(
      servers.map(({ announced }) => announced),
      processes,
    );
  if (form === 'cluster') {
    const cluster = await startRedisCluster(ground);
    return new GroupServers(cluster.url, cluster.nodes, await waysTo(cluster.nodes), {
      primary: (key) => cluster.primaryOf(key),
      switchOver: (key) => cluster.switchOver(key),
      whole: () => cluster.whole(),
      stop: () => cluster.stop(),
    });
  }
  const sentinels = await startSentinelGroup(ground, { replicas: 2 });
  const all = [...sentinels.servers, ...sentinels.sentinels];
  return new GroupServers(sentinels.url, sentinels.servers, await waysTo(all), {
    primary: () => sentinels.primary(),
    switchOver: () => sentinels.switchOver(),
    whole: () => sentinels.complete(),
    stop: () => sentinels.stop(),
  });
}

class GroupServers implements RedisServers {
  readonly name = 'redis';
  readonly proxy = allWays([]);

  constructor(
    readonly url: string,
    private readonly servers: readonly RedisNode[],
    private readonly ways: ProcessWays,
    readonly group: RedisGroup & { stop(): Promise<void> },
  ) {}

  get processUrl(): string {
    return this.url;
  }

  wayOf(process: string): Way {
    return this.ways.of(process);
  }

  waysOf(process: string): Readonly<Record<string, number>> {
    return this.ways.portsOf(process);
  }

  async failOver(): Promise<void> {
    throw new Error('a group is not behind one address');
  }

  pid(): number | undefined {
    return this.servers.find((server) => server.pid() !== undefined)?.pid();
  }

  kill(signal: NodeJS.Signals): void {
    for (const server of this.servers) server.kill(signal);
  }

  async restart(): Promise<void> {
    await allSettledOrThrow(this.servers.map((server) => server.restart()));
    await this.group.whole();
  }

  stop(): Promise<void> {
    this.ways.close();
    return this.group.stop();
  }
}
