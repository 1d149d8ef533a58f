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

/** `kill` and `restart` apply to all data servers of a group, or to the primary behind one address. */
export interface RedisServers extends Member {
  /** Without the proxies of the processes. */
  readonly url: string;
  /** REDIS_URL of the processes. Each process diverts its connections to its proxies. */
  readonly processUrl: string;
  /** The connections of all processes. For a group it has no effect. */
  readonly proxy: Way;
  /** The connections of one process. */
  wayOf(process: string): Way;
  /** The port of the proxy of a process, by the port of the server. */
  waysOf(process: string): Readonly<Record<string, number>>;
  /** Only with one address: see RedisPair. */
  failOver(meanwhile: () => Promise<void>): Promise<void>;
  /** Absent with one address. */
  readonly group?: RedisGroup;
}

/** Operations on single servers of a group. */
export interface RedisGroup {
  /** @param key in a Cluster: the primary of this key */
  primary(key: string): Promise<Member>;
  /** A manual failover to a replica. @param key in a Cluster: the primary of this key */
  switchOver(key: string): Promise<void>;
  /** Resolves when all servers run and another failover is possible. */
  whole(): Promise<void>;
}

interface RedisOptions {
  readonly form: RedisForm;
  /** Servers behind one address; 2 for failovers. A group has a fixed number. */
  readonly size: 1 | 2;
  /** Names of processes with their own proxies; all share the same proxies if absent. */
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
    throw new Error('a group has no single address');
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
