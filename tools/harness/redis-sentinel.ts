/** A Sentinel group on real processes: a primary, replicas, and three sentinels that watch them. */
import { allSettledOrThrow } from '../local/waiting';
import type { Ground } from './member';
import {
  type RedisAccess,
  type RedisNode,
  replicationConfig,
  sentinelLogin,
  startRedisNode,
  stopAll,
  urlParts,
} from './redis-node';
import { untilTrue } from './until';

const GROUP = 'mymaster';
const SENTINELS = 3;
/** Milliseconds after which a sentinel considers a silent server dead; 5 to 30 s in production. */
const DOWN_AFTER = 1_000;
/** Milliseconds. A split vote, for example on a busy machine, is repeated after twice this time. */
const FAILOVER_TIMEOUT = 2_000;

export interface SentinelGroupOptions extends RedisAccess {
  /** 1 if absent. */
  readonly replicas?: number;
  /** Rules of the user `app` at the sentinels, if `rules` is given. */
  readonly sentinelRules?: string;
}

/** @throws Error if it does not start. All servers are stopped then */
export async function startSentinelGroup(
  ground: Ground,
  options: SentinelGroupOptions = {},
): Promise<SentinelGroup> {
  const started: RedisNode[] = [];
  const keep = (node: RedisNode) => {
    started.push(node);
    return node;
  };
  try {
    const primary = keep(await startData(ground, options, 0));
    const replicas = await allSettledOrThrow(
      Array.from({ length: options.replicas ?? 1 }, async (_, n) =>
        keep(await startData(ground, options, n + 1, primary)),
      ),
    );
    const sentinels = await allSettledOrThrow(
      Array.from({ length: SENTINELS }, async (_, n) =>
        keep(await startSentinel(ground, options, n, primary)),
      ),
    );
    const group = new SentinelGroup([primary, ...replicas], sentinels, options);
    await group.complete();
    return group;
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

export class SentinelGroup {
  /** REDIS_URL of the group. */
  readonly url: string;

  constructor(
    readonly servers: readonly RedisNode[],
    readonly sentinels: readonly RedisNode[],
    access: RedisAccess,
  ) {
    const { scheme, login, hosts, options } = urlParts(access, sentinels);
    const watch = access.rules === undefined ? [] : SENTINEL_LOGIN;
    const query = [...watch, options].filter(Boolean).join('&');
    this.url = `${scheme}-sentinel://${login}${hosts}/${GROUP}${query && `?${query}`}`;
  }

  /** The primary according to the sentinels. */
  async primary(): Promise<RedisNode> {
    const address = await Promise.any(
      this.sentinels.map((one) => one.send('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', GROUP)),
    );
    const port = Number((address as string[])[1]);
    const found = this.servers.find(({ announced }) => announced === port);
    if (!found) throw new Error('the sentinels name a primary outside the group');
    return found;
  }

  /** Resolves when every sentinel sees the whole group and all replicas are in sync. */
  async complete(): Promise<void> {
    await untilTrue('the Sentinel group to be complete', async () => {
      const seen = await Promise.all(this.sentinels.map((one) => this.isComplete(one)));
      const primary = await this.primary();
      const info = String(await primary.send('INFO', 'replication'));
      const online = info.match(/state=online/g)?.length ?? 0;
      return seen.every(Boolean) && online === this.servers.length - 1;
    });
  }

  /** A manual failover to a replica. */
  async switchOver(): Promise<void> {
    const before = await this.primary();
    await this.sentinels[0]?.send('SENTINEL', 'FAILOVER', GROUP);
    await untilTrue('a replica to take over', async () => (await this.primary()) !== before);
  }

  stop(): Promise<void> {
    return stopAll([...this.sentinels, ...this.servers]);
  }

  private async isComplete(sentinel: RedisNode): Promise<boolean> {
    const [replicas, others] = (await Promise.all([
      sentinel.send('SENTINEL', 'REPLICAS', GROUP),
      sentinel.send('SENTINEL', 'SENTINELS', GROUP),
    ])) as [unknown[], unknown[]];
    const down = JSON.stringify([replicas, others]).match(/s_down|disconnected/);
    return replicas.length >= this.servers.length - 1 && others.length === SENTINELS - 1 && !down;
  }
}

const SENTINEL_LOGIN = ['sentinelUsername=app', 'sentinelPassword=app-password'];

function startData(
  ground: Ground,
  options: SentinelGroupOptions,
  number: number,
  primary?: RedisNode,
): Promise<RedisNode> {
  // As docs/installation.md recommends. Otherwise a primary that restarts after the sentinels have replaced it accepts
  // writes for ten seconds, until a sentinel makes it a replica: two primaries then take pushes of the same matter.
  // With one replica, the group would accept no writes after a failover.
  const needsReplica = (options.replicas ?? 1) > 1;
  return startRedisNode(ground, {
    name: `redis-${number}`,
    access: options,
    config: ({ announced }) => [
      ...replicationConfig(options, announced),
      ...(needsReplica ? ['min-replicas-to-write 1', 'min-replicas-max-lag 2'] : []),
      ...(primary ? [`replicaof 127.0.0.1 ${primary.announced}`] : []),
    ],
  });
}

function startSentinel(
  ground: Ground,
  options: SentinelGroupOptions,
  number: number,
  { announced: primaryPort }: RedisNode,
): Promise<RedisNode> {
  const { rules, sentinelRules = '-@all +auth +hello +client +sentinel' } = options;
  const access = { ...options, ...(rules !== undefined && { rules: sentinelRules }) };
  return startRedisNode(ground, {
    name: `sentinel-${number}`,
    access,
    args: ['--sentinel'],
    config: ({ announced }) => [
      `sentinel monitor ${GROUP} 127.0.0.1 ${primaryPort} 2`,
      `sentinel down-after-milliseconds ${GROUP} ${DOWN_AFTER}`,
      `sentinel failover-timeout ${GROUP} ${FAILOVER_TIMEOUT}`,
      'sentinel announce-ip 127.0.0.1',
      `sentinel announce-port ${announced}`,
      ...sentinelLogin(options, GROUP),
    ],
  });
}
