/** What a connection to Redis tells of itself: when it loses its server, and when it has it back. */
import type { Cluster, Redis } from 'ioredis';

export interface Watch {
  lose(reason: string): void;
  back(): void;
}

const CLOSED = 'the connection was closed';

export function watchServer(redis: Redis, { lose, back }: Watch): Redis {
  redis.on('error', (error) => lose(reasonOf(error)));
  // Why a sentinel named no master: it may not know the group.
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

/** Resolves once no node is on its way any more: each is connected, or could not be. */
export async function nodesTried(cluster: Cluster): Promise<void> {
  const underWay = cluster.nodes().filter(({ status }) => !['ready', 'end'].includes(status));
  await Promise.all(
    underWay.map(
      (node) =>
        new Promise<void>((resolve) => {
          node.once('ready', resolve);
          node.once('end', resolve);
        }),
    ),
  );
}

/** The event under which each kind of failure is told. */
const FAILURES = ['error', 'sentinelError', 'node error'];
/** ioredis keeps to itself why, where it asks a sentinel or a node who holds what. */
const CLOSED_EARLY = /Connection is closed\.$/;
const TLS_PERHAPS = ' Is TLS on where the servers have it, and is their certificate trusted?';

/** Collects what goes wrong with a connection. @returns what is called at its end, with the most telling reason */
export function collectFailures(redis: Redis | Cluster): () => string {
  let told = '';
  const note = (error: Error) => {
    const reason = reasonOf(error);
    if (told === '' || !CLOSED_EARLY.test(reason)) told = reason;
  };
  for (const event of FAILURES) redis.on(event, note);
  return () => {
    for (const event of FAILURES) redis.off(event, note);
    return CLOSED_EARLY.test(told) ? told + TLS_PERHAPS : told;
  };
}

/** In words: that of a Cluster is in its last node's error, that of a name with several addresses in a code. */
export function reasonOf(error: Error & { lastNodeError?: Error; code?: string }): string {
  return error.lastNodeError?.message || error.message || error.code || error.name;
}
