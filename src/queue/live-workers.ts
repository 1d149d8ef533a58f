/** The workers that are alive, and how many partitions each of them holds: what they share by. */
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import type { Logger } from '../runtime/logger';
import { createSharer } from './balance';
import type { GroupWorker } from './group-worker';
import type { RedisKeys } from './keys';
import { wantedCount } from './partitioning';
import type { Partitions } from './partitions';
import { AT_MAXMEMORY, type RedisConnection } from './redis';

/** Milliseconds between two looks of a worker. */
export const SHARE_EVERY = 500;
/** Milliseconds after which a worker that said nothing counts no more. */
export const WORKER_GONE = 2_000;
/** Looks in a row that want other partitions, before there are: fewer may pass (a rollout). */
const LOOKS_TO_GROW = 4;
const LOOKS_TO_SHRINK = 240;
/** Looks after which the partitions are counted again: a Redis that was emptied has the fewest. */
const COUNT_EVERY = 10;
/** Fewer partitions only where there are so many times too many. */
const TOO_MANY = 4;

/**
 * KEYS: workers, heartbeats. ARGV: name, partitions it holds (-1: it is paused, and does not count), milliseconds of
 * WORKER_GONE. Returns names and partitions of those that are alive and take partitions.
 */
const BEAT = `${AT_MAXMEMORY}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[3])) do
  redis.call('ZREM', KEYS[2], gone)
  redis.call('HDEL', KEYS[1], gone)
end
if ARGV[2] == '-1' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[2], now, ARGV[1])
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
return redis.call('HGETALL', KEYS[1])`;

interface BeatCommand {
  beatOfWorker(keyCount: number, ...args: (string | number)[]): Promise<string[]>;
}

export interface SharingOptions {
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly partitions: Partitions;
  readonly worker: Pick<GroupWorker, 'load' | 'share' | 'isPaused'>;
  /** Of one run of a process. */
  readonly id: string;
  readonly logger: Logger;
}

export interface Sharing extends PollLoop {
  /** Reports at once that this worker was paused, or takes partitions again. @throws the connection's error */
  report(): Promise<void>;
  /** @returns ids of the workers that were alive at the last look, none before the first one */
  alive(): Iterable<string>;
}

/** From now on the worker has its share of the partitions, and there are as many as the workers need. */
export function startSharing(options: SharingOptions): Sharing {
  const { redis, keys, worker, id, logger } = options;
  redis.defineCommand('beatOfWorker', { lua: BEAT });
  const command = redis as unknown as BeatCommand;
  const shareOf = createSharer(id);
  const adapt = createAdapt(options);
  let alive: ReadonlyMap<string, number> = new Map();
  const report = async () => {
    const partitions = worker.isPaused() ? -1 : worker.load().partitions;
    const names = [keys.workers, keys.workerHeartbeats];
    alive = toMap(await command.beatOfWorker(2, ...names, id, partitions, WORKER_GONE));
  };
  const loop = startPollLoop(
    async () => {
      await report();
      if (!alive.has(id)) return;
      // What it holds may have changed meanwhile, in no case by much.
      const { letGo, most } = shareOf(alive);
      worker.share(letGo, most);
      await adapt(alive.size);
    },
    SHARE_EVERY,
    (error) => logger.debug({ error: String(error) }, 'partitions not shared, tried again soon'),
  );
  return {
    report,
    alive: () => alive.keys(),
    stop: async () => {
      await loop.stop();
      // The others take over at once; where they are not told, they find out.
      // In one step: a worker with no heartbeat would count for ever.
      const both = redis.multi().hdel(keys.workers, id).zrem(keys.workerHeartbeats, id);
      await both
        .exec()
        .catch((error) =>
          logger.debug({ error: String(error) }, 'not told that this worker stops'),
        );
    },
  };
}

/** More partitions once there are more workers, and fewer once there are far too many for long. */
function createAdapt({ keys, partitions, logger }: SharingOptions) {
  let current = 0;
  let looks = 0;
  let toGrow = 0;
  let toShrink = 0;
  return async (workers: number): Promise<void> => {
    const wanted = wantedCount(workers, keys.shards);
    if (looks % COUNT_EVERY === 0) current = await partitions.count();
    looks += 1;
    toGrow = wanted > current ? toGrow + 1 : 0;
    toShrink = wanted * TOO_MANY <= current ? toShrink + 1 : 0;
    if (toGrow < LOOKS_TO_GROW && toShrink < LOOKS_TO_SHRINK) {
      // Somebody else may have changed it.
      if (toGrow > 0 || toShrink > 0) current = await partitions.count();
      return;
    }
    const hasChanged = await partitions.repartition(wanted);
    current = await partitions.count();
    // One line for all workers: each of them tries.
    if (!hasChanged) return;
    logger.info({ workers, partitions: current * keys.shards }, 'partitions follow the workers');
  };
}

function toMap(answer: readonly string[]): Map<string, number> {
  const alive = new Map<string, number>();
  for (let n = 0; n < answer.length; n += 2) alive.set(String(answer[n]), Number(answer[n + 1]));
  return alive;
}
