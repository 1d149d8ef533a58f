/**
 * Additions to ioredis. `watchServer` and `watchCluster` report when a connection is lost and when it works again. The
 * subclasses of `Cluster` correct defects of ioredis.
 */
import { Cluster, type ClusterNode, type ClusterOptions, type Redis } from 'ioredis';

/** Receives the reports about one connection. */
export interface Watch {
  lose(reason: string): void;
  back(): void;
}

const CLOSED = 'the connection was closed';

export function watchServer(redis: Redis, { lose, back }: Watch): Redis {
  redis.on('error', (error) => lose(reasonOf(error)));
  // A sentinel returned no primary: for example, because the sentinel does not know the group.
  redis.on('sentinelError', (error) => lose(reasonOf(error)));
  // A dying server closes its connections without an error, so ioredis emits no `error` event. If this process closes
  // the connection for good (`disconnect()`), ioredis does not emit `reconnecting`.
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
    for (const node of cluster.nodes()) connectNode(node);
  });
  // ioredis emits `refresh` after a node has reported the slots of the Cluster, so the Cluster is reachable. If another
  // node is unreachable, the next attempt to connect to that node reports the loss again.
  cluster.on('refresh', back);
  // If ioredis has added the node to send a command, that command opens the connection. `setImmediate` lets ioredis
  // send the command before `connectNode` runs.
  cluster.on('+node', (node) =>
    setImmediate(() => cluster.status === 'ready' && connectNode(node)),
  );
  return cluster;
}

/**
 * Connects to a node in advance. Otherwise ioredis would connect at the first command for the node, and reject further
 * commands until the node is connected.
 */
function connectNode(node: Redis): void {
  // A failure is ignored here, because the event `node error` reports it.
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

/** The events with which ioredis reports failures. */
const FAILURE_EVENTS = ['error', 'sentinelError', 'node error'];
/**
 * Text of the ioredis error after a sentinel or a node has closed the connection. The text does not state the cause.
 */
const CLOSED_WITHOUT_CAUSE = /Connection is closed\.$/;
const TLS_HINT =
  ' If the servers use TLS: does REDIS_URL begin with rediss, and is their certificate trusted?';

/**
 * Collects the failures of a connection.
 *
 * @returns a function that stops the collection and returns a text: the last failure that states a cause, otherwise
 *   the first failure and a hint about TLS. The text is empty if there was no failure
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

/**
 * The text of an error. The error of a Cluster contains the error of the last node (`lastNodeError`), and only the
 * node's error states the cause. If all addresses of a host failed, the error has a code and no text.
 */
function reasonOf(error: Error & { lastNodeError?: Error; code?: string }): string {
  return error.lastNodeError?.message || error.message || error.code || error.name;
}

/**
 * A Cluster connection that stops refreshing its slots when it is closed. ioredis itself starts a new refresh timer
 * after each refresh, even if the connection was closed during the refresh. The timers would run until the process
 * ends.
 */
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

/**
 * The Cluster connection for the blocking commands of BullMQ. If a command gets no answer, BullMQ reconnects and waits
 * for the promise of `connect`. The class `Cluster` does not always settle this promise. Without this subclass, a
 * worker could wait forever and take no more jobs from a shard of the queue.
 */
export class BlockingCluster extends ClusterConnection {
  constructor(
    private readonly startNodes: ClusterNode[],
    options: ClusterOptions,
  ) {
    super(startNodes, options);
    stayEnded(this);
  }

  /** BullMQ calls this method to create the connection for its blocking commands. */
  override duplicate(nodes: ClusterNode[] = [], options: ClusterOptions = {}): never {
    const redisOptions = { ...this.options.redisOptions, ...options.redisOptions };
    const all = { ...this.options, ...options, redisOptions };
    return new BlockingCluster(nodes.length > 0 ? nodes : this.startNodes, all) as never;
  }

  /**
   * Resolves as soon as the Cluster is ready, even after several attempts. If the first node reports that the Cluster
   * is failing, ioredis makes another attempt, but never settles the promise of `super.connect()`.
   *
   * @throws Error if the connection failed and ioredis makes no further attempt
   */
  override async connect(): Promise<void> {
    const settled = whenSettled(this);
    try {
      await Promise.race([super.connect(), settled.promise]);
    } finally {
      settled.forget();
    }
  }
}

/** Resolves when the Cluster is ready and rejects when the connection has ended. */
function whenSettled(cluster: Cluster): { promise: Promise<void>; forget(): void } {
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
  const forget = () => {
    cluster.off('ready', onReady);
    cluster.off('end', onEnd);
  };
  return { promise, forget };
}

/**
 * Keeps the status `end` of an ended Cluster connection. If a node closes its connection after the end, ioredis changes
 * the status to `close`. Without this function, the status would stay `close` forever.
 */
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
