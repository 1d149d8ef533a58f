/** Reports lost connections, and works around defects of the ioredis class `Cluster`. */
import { Cluster, type ClusterNode, type ClusterOptions, type Redis } from 'ioredis';

export interface OutageListener {
  lose(reason: string): void;
  back(): void;
}

const CLOSED = 'the connection was closed';

export function reportServerOutages(redis: Redis, { lose, back }: OutageListener): Redis {
  redis.on('error', (error) => lose(reasonOf(error)));
  // ioredis emits `sentinelError` if a sentinel is unreachable or returns no primary.
  redis.on('sentinelError', (error) => lose(reasonOf(error)));
  // If a server closes its connections, ioredis emits `reconnecting` and no `error`.
  redis.on('reconnecting', () => lose(CLOSED));
  redis.on('ready', back);
  return redis;
}

export function reportClusterOutages(cluster: Cluster, { lose, back }: OutageListener): Cluster {
  cluster.on('error', (error) => lose(reasonOf(error)));
  cluster.on('node error', (error, node) => lose(`${node}: ${reasonOf(error)}`));
  cluster.on('reconnecting', () => lose(CLOSED));
  cluster.on('ready', () => {
    back();
    for (const node of cluster.nodes()) connectNode(node);
  });
  // The event `refresh` proves that the Cluster is reachable.
  cluster.on('refresh', back);
  // ioredis can add a node while it redirects a command to this node. If the node is already connecting, ioredis can
  // reject the command. Therefore `connectNode` runs after ioredis has sent the command.
  cluster.on('+node', (node) =>
    setImmediate(() => cluster.status === 'ready' && connectNode(node)),
  );
  return cluster;
}

/** Connects to a node before the first command needs the connection. */
function connectNode(node: Redis): void {
  // A failure also causes the event `node error`, so this function ignores the rejection.
  if (node.status === 'wait') node.connect().catch(() => undefined);
}

/** Resolves when each node is connected or has failed to connect. */
export async function nodesSettled(cluster: Cluster): Promise<void> {
  const connecting = cluster.nodes().filter(({ status }) => !['ready', 'end'].includes(status));
  await Promise.all(
    connecting.map(
      (node) =>
        new Promise<void>((resolve) => {
          node.once('ready', resolve);
          node.once('end', resolve);
        }),
    ),
  );
}

const FAILURE_EVENTS = ['error', 'sentinelError', 'node error'];
const CLOSED_WITHOUT_CAUSE = /Connection is closed\.$/;
const TLS_HINT =
  ' If the servers use TLS, REDIS_URL must begin with rediss, and this process must trust their certificate.';

/**
 * Collects failures until the caller calls the returned function.
 *
 * @returns a function that returns one failure, preferably with a cause. Without a failure, the function returns ''
 */
export function collectFailures(redis: Redis | Cluster): () => string {
  let failure = '';
  const note = (error: Error) => {
    const reason = reasonOf(error);
    if (failure === '' || !CLOSED_WITHOUT_CAUSE.test(reason)) failure = reason;
  };
  for (const event of FAILURE_EVENTS) redis.on(event, note);
  return () => {
    for (const event of FAILURE_EVENTS) redis.off(event, note);
    return CLOSED_WITHOUT_CAUSE.test(failure) ? failure + TLS_HINT : failure;
  };
}

/** In a Cluster, only the error of the last node (`lastNodeError`) states the cause. */
function reasonOf(error: Error & { lastNodeError?: Error; code?: string }): string {
  return error.lastNodeError?.message || error.message || error.code || error.name;
}

/** Works around a defect of ioredis: a closed Cluster connection can refresh its slots forever. */
export class ClusterConnection extends Cluster {
  private isClosed = false;

  constructor(startNodes: ClusterNode[], options: ClusterOptions) {
    super(startNodes, options as ConstructorParameters<typeof Cluster<'legacy'>>[1]);
  }

  override connect(): Promise<void> {
    this.isClosed = false;
    return super.connect();
  }

  override disconnect(reconnect = false): void {
    this.isClosed = !reconnect;
    super.disconnect(reconnect);
  }

  override refreshSlotsCache(callback?: (error?: Error | null) => void): void {
    super.refreshSlotsCache((error) => {
      if (!this.isClosed) callback?.(error);
    });
  }
}

/** BullMQ waits for the promise of `connect`, but the class `Cluster` does not always settle this promise. */
export class BlockingCluster extends ClusterConnection {
  constructor(
    private readonly startNodes: ClusterNode[],
    options: ClusterOptions,
  ) {
    super(startNodes, options);
    stayEnded(this);
  }

  /** Called by BullMQ to create the connection for its blocking commands. */
  override duplicate(nodes: ClusterNode[] = [], options: ClusterOptions = {}): never {
    const redisOptions = { ...this.options.redisOptions, ...options.redisOptions };
    const all = { ...this.options, ...options, redisOptions };
    return new BlockingCluster(nodes.length > 0 ? nodes : this.startNodes, all) as never;
  }

  /** @throws Error if the connection failed and ioredis makes no further attempt */
  override async connect(): Promise<void> {
    const settled = whenSettled(this);
    try {
      await Promise.race([super.connect(), settled.promise]);
    } finally {
      settled.cancel();
    }
  }
}

function whenSettled(cluster: Cluster): { promise: Promise<void>; cancel(): void } {
  let onReady = () => {};
  let onEnd = () => {};
  const promise = new Promise<void>((resolve, reject) => {
    onReady = resolve;
    // BullMQ recognizes a lost connection by this message.
    onEnd = () => reject(new Error('Connection is closed.'));
  });
  // Prevents an unhandled rejection if `super.connect()` has settled first.
  promise.catch(() => undefined);
  cluster.once('ready', onReady);
  cluster.once('end', onEnd);
  const cancel = () => {
    cluster.off('ready', onReady);
    cluster.off('end', onEnd);
  };
  return { promise, cancel };
}

/** Works around a defect of ioredis: the status of an ended Cluster can become `close`. */
function stayEnded(cluster: Cluster): void {
  let hasEnded = false;
  cluster.on('connecting', () => {
    hasEnded = false;
  });
  cluster.on('end', () => {
    hasEnded = true;
  });
  cluster.on('close', () => {
    if (!hasEnded || cluster.status !== 'close') return;
    cluster.status = 'end';
    cluster.emit('end');
  });
}
