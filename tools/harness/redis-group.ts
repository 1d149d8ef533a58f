/** The Redis of a run: one address, a Sentinel group or a Cluster. */
import { allSettledOrThrow } from '../local/waiting';
import type { Ground, Member } from './member';
import { allWays, type Way } from './proxy';
import { startRedisCluster } from './redis-cluster';
import type { RedisNode } from './redis-node';
import { startRedisPair } from './redis-pair';
import { startSentinelGroup } from './redis-sentinel';

export const REDIS_FORMS = ['single', 'sentinel', 'cluster'] as const;
export type RedisForm = (typeof REDIS_FORMS)[number];

/** Its `kill` and `restart` are of all servers that hold data, or of the one that is the primary. */
export interface RedisServers extends Member {
  /** Past the proxy with the faults. */
  readonly url: string;
  /** The way that the processes take. */
  readonly proxiedUrl: string;
  /** Of a group there are no proxies: its servers tell where they are themselves. */
  readonly proxy: Way;
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

/** @param size how many there are behind one address, 2 to fail over; a group has its own number */
export async function startRedisServers(
  ground: Ground,
  { form, size }: { readonly form: RedisForm; readonly size: 1 | 2 },
): Promise<RedisServers> {
  if (form === 'single') return startRedisPair(ground, size);
  if (form === 'cluster') {
    const cluster = await startRedisCluster(ground);
    return new GroupServers(cluster.url, cluster.nodes, {
      primary: (key) => cluster.primaryOf(key),
      switchOver: (key) => cluster.switchOver(key),
      whole: () => cluster.whole(),
      stop: () => cluster.stop(),
    });
  }
  const sentinels = await startSentinelGroup(ground, { replicas: 2 });
  return new GroupServers(sentinels.url, sentinels.servers, {
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
    readonly group: RedisGroup & { stop(): Promise<void> },
  ) {}

  get proxiedUrl(): string {
    return this.url;
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
    return this.group.stop();
  }
}
