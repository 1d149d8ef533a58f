/** Ensures that all processes of a namespace use the same queue layout and the same database. */
import { type PollLoop, startPollLoop } from '../../concurrency/timing';
import type { Logger } from '../../infra/logger';
import { defineScript } from '../../infra/redis/commands';
import type { RedisConnection } from '../../infra/redis/connect';
import { createRedisKeys, layoutText, type QueueLayout, type RedisKeys } from '../keys';

/** Milliseconds without a heartbeat after which a process counts as dead. */
const SILENT = 9_000;

function readLayout(text: string | null): QueueLayout | undefined {
  const [, shards, partitions] = /^(\d+) (\d+)$/.exec(text ?? '') ?? [];
  return shards && partitions
    ? { shards: Number(shards), partitions: Number(partitions) }
    : undefined;
}

/**
 * Records the layout of this process. Replaces a recorded layout only if no push is queued and no process is alive.
 *
 * @throws Error that names the setting to correct
 */
export async function agreeOnLayout(
  redis: RedisConnection,
  keys: RedisKeys,
  namespace: string,
): Promise<void> {
  const run = defineScript<string>(redis, __dirname, 'agree-on-layout');
  const agree = (replaceable: string) => run([keys.layout], [layoutText(keys), replaceable]);
  const inUse = (layout: QueueLayout) => {
    const { own, count, difference } = compare(keys, layout);
    return new Error(
      `${difference} and is in use: set ${count}, or wait until no push is queued, ` +
        `stop all processes, and start them with ${own}`,
    );
  };
  const recorded = await agree('');
  const layout = readLayout(recorded);
  if (recorded === layoutText(keys)) return;
  const others = layout && createRedisKeys(namespace, layout.shards, layout.partitions);
  if (others && (await isInUse(redis, others))) throw inUse(layout);
  // Another process can have changed the recorded layout since the first `agree`.
  const now = await agree(recorded);
  if (now !== layoutText(keys)) throw inUse(readLayout(now) ?? keys);
}

/**
 * Checks that a process that only adds pushes has the recorded layout.
 *
 * @throws Error that names the setting to correct
 */
export async function requireLayout(
  redis: RedisConnection,
  keys: RedisKeys,
  namespace: string,
): Promise<void> {
  const layout = readLayout(await redis.get(keys.layout));
  if (!layout)
    throw new Error(
      `Redis has no queue of the namespace ${namespace}: ` +
        'start web and worker first, or set REDIS_NAMESPACE as in the service',
    );
  const { setting, own, count, difference } = compare(keys, layout);
  if (own !== count) throw new Error(`${difference}: set ${setting}=${count} as in the service`);
}

function compare(own: QueueLayout, queue: QueueLayout) {
  const [setting, name, what] =
    own.shards === queue.shards
      ? (['REDIS_PARTITIONS', 'partitions', 'partitions in each shard'] as const)
      : (['REDIS_SHARDS', 'shards', 'shards'] as const);
  const difference = `${setting} is ${own[name]}, but the queue has ${queue[name]} ${what}`;
  return { setting, own: own[name], count: queue[name], difference };
}

/** @param assumed the layout to use if no layout is recorded */
export async function readQueueKeys(
  redis: RedisConnection,
  namespace: string,
  assumed: QueueLayout,
): Promise<RedisKeys> {
  const recorded = readLayout(await redis.get(createRedisKeys(namespace).layout));
  const { shards, partitions } = recorded ?? assumed;
  return createRedisKeys(namespace, shards, partitions);
}

async function isInUse(redis: RedisConnection, keys: RedisKeys): Promise<boolean> {
  const [seconds] = await redis.time();
  const since = Number(seconds) * 1_000 - SILENT;
  const shards = Array.from({ length: keys.shards }, (_, shard) => shard);
  const found = await Promise.all([
    redis.zcount(keys.processHeartbeats, since, '+inf'),
    ...shards.map((shard) => redis.exists(keys.partitionBytes(shard))),
  ]);
  return found.some((count) => count > 0);
}

/** Milliseconds until a claim expires. */
const CLAIM = 15_000;
const RENEW_EVERY = 4_000;

interface Database {
  /** Equal for all URLs that lead to the same database; contains no blanks. */
  readonly id: string;
  /** Hosts and database name, without a password. */
  readonly name: string;
}

interface ClaimOptions {
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly namespace: string;
  readonly identify: () => Promise<Database>;
  readonly logger: Logger;
}

/**
 * Claims the namespace for the database, and renews the claim until the returned loop is stopped.
 *
 * @throws Error if another database has a claim
 */
export async function claimNamespace(options: ClaimOptions): Promise<PollLoop> {
  const { redis, keys, namespace, identify, logger } = options;
  const run = defineScript<string>(redis, __dirname, 'claim-namespace');
  let claimed = '';
  const claim = async (): Promise<string | undefined> => {
    const { id, name } = await identify();
    const held = await run([keys.database], [id, name, CLAIM, claimed]);
    claimed = id;
    if (held.startsWith(`${id} `)) return undefined;
    const other = held.slice(held.indexOf(' ') + 1);
    return (
      `REDIS_NAMESPACE ${namespace} is used by processes with the database ${other}, ` +
      `but MONGO_URL of this process leads to the database ${name}: ` +
      'set another REDIS_NAMESPACE, or stop those processes and wait 15 s'
    );
  };
  const conflict = await claim();
  if (conflict !== undefined) throw new Error(conflict);
  let isReported = false;
  return startPollLoop(
    async () => {
      const found = await claim();
      if (found !== undefined && !isReported) logger.error(found);
      isReported = found !== undefined;
    },
    RENEW_EVERY,
    (error) => logger.debug({ error: String(error) }, 'namespace not claimed, retrying'),
  );
}
