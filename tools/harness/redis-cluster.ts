/** A Redis Cluster on real processes: three primaries, each with a replica. */
import { freePort } from '../local/ports';
import { allSettledOrThrow } from '../local/waiting';
import type { Ground } from './member';
import {
  type RedisAccess,
  type RedisNode,
  replicationConfig,
  startRedisNode,
  stopAll,
  urlParts,
} from './redis-node';
import { untilTrue } from './until';

const PRIMARIES = 3;
const SLOTS = 16_384;
/** Milliseconds after which a silent node counts as dead; 5 to 15 s in production. */
const NODE_TIMEOUT = 1_500;

/** @throws Error if it does not start. All nodes are stopped then */
export async function startRedisCluster(
  ground: Ground,
  access: RedisAccess = {},
): Promise<RedisCluster> {
  const started: ClusterNode[] = [];
  try {
    await allSettledOrThrow(
      Array.from({ length: 2 * PRIMARIES }, async (_, n) => {
        started.push(await startNode(ground, access, n));
      }),
    );
    const nodes = started.sort((a, b) => a.name.localeCompare(b.name));
    await join(nodes);
    return new RedisCluster(nodes, access);
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

export interface ClusterNode extends RedisNode {
  readonly busPort: number;
}

export class RedisCluster {
  /** REDIS_URL of the Cluster. */
  readonly url: string;

  constructor(
    readonly nodes: readonly ClusterNode[],
    access: RedisAccess,
  ) {
    const { scheme, login, hosts, options } = urlParts(access, nodes);
    this.url = `${scheme}-cluster://${login}${hosts}${options && `?${options}`}`;
  }

  /** The primary of a key according to the running nodes. */
  async primaryOf(key: string): Promise<ClusterNode> {
    const slot = Number(await this.sendToAny('CLUSTER', 'KEYSLOT', key));
    const ranges = (await this.sendToAny('CLUSTER', 'SLOTS')) as SlotRange[];
    const range = ranges.find(([first, last]) => first <= slot && slot <= last);
    const found = this.nodes.find(({ announced }) => announced === range?.[2][1]);
    if (!found) throw new Error(`no node holds the slot of ${key}`);
    return found;
  }

  /** Resolves when every node reports all slots as served, and every replica follows its primary. */
  async whole(): Promise<void> {
    await isWhole(this.nodes);
    await haveReplicas(this.nodes);
  }

  /** A manual failover from the primary of a key to its replica. */
  async switchOver(key: string): Promise<void> {
    const primary = await this.primaryOf(key);
    const info = String(await primary.send('INFO', 'replication'));
    const port = Number(/^slave0:.*port=(\d+)/m.exec(info)?.[1]);
    const replica = this.nodes.find(({ announced }) => announced === port);
    if (!replica) throw new Error(`${primary.name} has no replica`);
    await replica.send('CLUSTER', 'FAILOVER');
    await untilTrue(
      'the replica to take over',
      async () => (await this.primaryOf(key)) === replica,
    );
  }

  stop(): Promise<void> {
    return stopAll(this.nodes);
  }

  private sendToAny(...command: [string, ...string[]]): Promise<unknown> {
    const running = this.nodes.filter((node) => node.pid() !== undefined);
    return Promise.any(running.map((node) => node.send(...command)));
  }
}

type SlotRange = [first: number, last: number, primary: [host: string, port: number]];

async function startNode(
  ground: Ground,
  access: RedisAccess,
  number: number,
): Promise<ClusterNode> {
  const busPort = await freePort();
  const node = await startRedisNode(ground, {
    name: `node-${number}`,
    access,
    config: ({ announced }) => [
      ...replicationConfig(access, announced),
      ...['cluster-enabled yes', 'cluster-config-file nodes.conf', `cluster-port ${busPort}`],
      ...['cluster-announce-ip 127.0.0.1', `cluster-announce-port ${announced}`],
      `cluster-announce-bus-port ${busPort}`,
      `cluster-node-timeout ${NODE_TIMEOUT}`,
      ...['cluster-replica-validity-factor 0', 'cluster-require-full-coverage no'],
    ],
  });
  return Object.assign(node, { busPort });
}

/** Joins separate nodes to a Cluster, as `redis-cli --cluster create` does. */
async function join(nodes: readonly ClusterNode[]): Promise<void> {
  const [first] = nodes as [ClusterNode];
  for (const [n, node] of nodes.entries()) {
    await node.send('CLUSTER', 'SET-CONFIG-EPOCH', n + 1);
    if (n >= PRIMARIES) continue;
    const from = Math.ceil((n * SLOTS) / PRIMARIES);
    const to = Math.ceil(((n + 1) * SLOTS) / PRIMARIES) - 1;
    await node.send('CLUSTER', 'ADDSLOTSRANGE', from, to);
  }
  for (const node of nodes.slice(1)) {
    await first.send('CLUSTER', 'MEET', '127.0.0.1', node.port, node.busPort);
  }
  await untilTrue('the nodes to know one another', async () =>
    (await infos(nodes)).every((info) => info.includes(`cluster_known_nodes:${nodes.length}\r`)),
  );
  const ids = await Promise.all(nodes.map((node) => node.send('CLUSTER', 'MYID')));
  for (const [n, node] of nodes.entries()) {
    if (n >= PRIMARIES) await node.send('CLUSTER', 'REPLICATE', String(ids[n - PRIMARIES]));
  }
  await isWhole(nodes);
  await haveReplicas(nodes);
}

/** Resolves when all replicas are connected to their primaries. */
const haveReplicas = (nodes: readonly ClusterNode[]): Promise<void> =>
  untilTrue('the replicas to follow', async () => {
    const replication = await Promise.all(nodes.map((node) => node.send('INFO', 'replication')));
    const following = replication.filter((info) => String(info).includes('master_link_status:up'));
    return following.length === nodes.length - PRIMARIES;
  });

const infos = async (nodes: readonly ClusterNode[]): Promise<string[]> =>
  (await Promise.all(nodes.map((node) => node.send('CLUSTER', 'INFO')))).map(String);

const isWhole = (nodes: readonly ClusterNode[]): Promise<void> =>
  untilTrue('the Cluster to serve all slots', async () =>
    (await infos(nodes)).every(
      (info) => info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}`),
    ),
  );
