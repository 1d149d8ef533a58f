/**
 * The Cluster on which BullMQ blocks. BullMQ mends it by itself where a command gets no answer: it disconnects,
 * connects again, and waits for what becomes of that. ioredis does not always tell, and then the worker would wait
 * for ever, and take no job of its shard any more.
 */
import { Cluster, type ClusterNode, type ClusterOptions } from 'ioredis';

export class BlockingCluster extends Cluster {
  constructor(
    private readonly startNodes: ClusterNode[],
    options: ClusterOptions,
  ) {
    super(startNodes, options as ConstructorParameters<typeof Cluster<'legacy'>>[1]);
    stayEnded(this);
  }

  /** What BullMQ blocks on. Its type in ioredis, of what commands return, is of no concern here. */
  override duplicate(nodes: ClusterNode[] = [], options: ClusterOptions = {}): never {
    const redisOptions = { ...this.options.redisOptions, ...options.redisOptions };
    const all = { ...this.options, ...options, redisOptions };
    return new BlockingCluster(nodes.length > 0 ? nodes : this.startNodes, all) as never;
  }

  /**
   * Resolves once it is ready, at whichever try. The promise of ioredis is never settled where the node that it asks
   * finds the Cluster failing, as all nodes do for a moment when they were away together: ioredis tries again then,
   * but tells nobody who waited.
   *
   * @throws Error where it could not connect, and does not try again
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

/** Resolves when a Cluster is ready, rejects when it has ended. */
function whenSettled(cluster: Cluster): { promise: Promise<void>; forget(): void } {
  let onReady = () => {};
  let onEnd = () => {};
  const promise = new Promise<void>((resolve, reject) => {
    onReady = resolve;
    // As BullMQ knows the loss of a connection.
    onEnd = () => reject(new Error('Connection is closed.'));
  });
  // Nobody waits for it any more once the other one was first.
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
 * A Cluster is closed with the last of its nodes, says ioredis, and says so again for each node that takes longer to
 * close than that: its end would be hidden by a state which nobody leaves.
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
