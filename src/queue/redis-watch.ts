/** What a connection to Redis tells of itself: when it loses its server, and when it has it back. */
import type { Cluster, Redis } from 'ioredis';

export interface Watch {
  lose(reason: string): void;
  back(): void;
}

const CLOSED = 'the connection was closed';

export function watchServer(redis: Redis, { lose, back }: Watch): Redis {
  redis.on('error', (error) => lose(reasonOf(error)));
  // Why a sentinel was of no use: it may not know the group.
  redis.on('sentinelError', (error) => lose(reasonOf(error)));
  // A server that dies closes its connections without an error; one that we close is not lost.
  redis.on('reconnecting', () => lose(CLOSED));
  redis.on('ready', back);
  return redis;
}

export function watchCluster(cluster: Cluster, { lose, back }: Watch): Cluster {
  cluster.on('error', (error) => lose(reasonOf(error)));
  cluster.on('node error', (error, node) => lose(`${node}: ${reasonOf(error)}`));
  cluster.on('reconnecting', () => lose(CLOSED));
  cluster.on('ready', () => {
    back();
    for (const node of cluster.nodes()) comeUp(node);
  });
  // Some node told who holds what; one that is away is lost again when it is tried.
  cluster.on('refresh', back);
  // The command for which ioredis found the node goes first: it brings the connection up by itself.
  cluster.on('+node', (node) => setImmediate(() => cluster.status === 'ready' && comeUp(node)));
  return cluster;
}

/** ioredis connects to a node when a command is for it, and rejects all others until it has. */
function comeUp(node: Redis): void {
  // Its failure is told as the node's error.
  if (node.status === 'wait') node.connect().catch(() => undefined);
}

/** In words: that of a Cluster is in its last node's error, that of a name with several addresses in a code. */
export function reasonOf(error: Error & { lastNodeError?: Error; code?: string }): string {
  return error.lastNodeError?.message || error.message || error.code || error.name;
}
