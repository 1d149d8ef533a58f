/**
 * A worker's number for snowflake ids: leased in Redis, renewed while it lives, given up on loss.
 * Should two workers ever hold the same one (an emptied Redis), the unique `_id` of the ledger
 * rejects the second id and the worker draws another. That alone would not do in place of the lease: a
 * cluster that shards the ledger by its key (docs/portal.md) keeps `_id` unique within a shard only,
 * so two matters of two shards could have one id.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import type { RedisKeys } from './keys';
import { AT_MAXMEMORY, type RedisConnection } from './redis';

const LEASE = 30_000;
const RENEW_EVERY = 5_000;
/** Milliseconds between two tries of a worker that starts while Redis rejects or is away. */
const RETRY_EVERY = 500;

/** At `maxmemory` too: nobody but workers makes room there. Returns 1 where it was free. */
const TAKE = `${AT_MAXMEMORY}
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`;

/** Extends the lease only for its holder. Returns 1 where it is still held. */
const RENEW = `${AT_MAXMEMORY}
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`;
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

const NOT_RENEWED = {
  level: 'warn',
  text: 'worker number not renewed',
  dueTo: ['redis'],
} as const;

/** No lease is held, so no id may be made; it comes back with Redis. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** There are as many workers as there may be. */
class AllTaken extends Error {
  override readonly name = 'AllTaken';
}

export interface WorkerNumber {
  /** @throws LeaseLost while no lease is held: no id may be made then */
  current(): number;
  release(): Promise<void>;
}

/**
 * Leases the lowest free number. While Redis is away, or rejects, it waits.
 *
 * @throws AllTaken
 */
export async function leaseWorkerNumber(
  redis: RedisConnection,
  keys: RedisKeys,
  { max, logger }: { max: number; logger: Logger },
): Promise<WorkerNumber> {
  const holder = randomUUID();
  let held = await takePatiently(redis, keys, { holder, max, logger });

  const renew = async () => {
    const until = leaseFromNow();
    const { number } = held;
    const isHeld = (await redis.eval(RENEW, 1, keys.workerNumber(number), holder, LEASE)) === 1;
    held = isHeld ? { number, until } : await takeFree(redis, keys, holder, max);
  };
  const tell = foldedLog(logger);
  const timer = setInterval(() => {
    renew().catch((error) => tell(NOT_RENEWED, { error: String(error) }));
  }, RENEW_EVERY);

  return {
    current: () => {
      if (performance.now() >= held.until)
        throw new LeaseLost('the lease of the worker number is lost');
      return held.number;
    },
    release: async () => {
      clearInterval(timer);
      await redis.eval(RELEASE, 1, keys.workerNumber(held.number), holder);
    },
  };
}

interface Held {
  readonly number: number;
  /** By this process's own clock, milliseconds. */
  readonly until: number;
}

/** Taken before Redis is asked: it begins with a lease at some time between the question and the answer. */
const leaseFromNow = () => performance.now() + LEASE;

/** How many workers hold a number; one that died holds its own for up to 30 s. */
export function countWorkers(
  redis: RedisConnection,
  keys: RedisKeys,
  max: number,
): Promise<number> {
  return redis.exists(Array.from({ length: max }, (_, number) => keys.workerNumber(number)));
}

async function takePatiently(
  redis: RedisConnection,
  keys: RedisKeys,
  { holder, max, logger }: { holder: string; max: number; logger: Logger },
): Promise<Held> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await takeFree(redis, keys, holder, max);
    } catch (error) {
      if (error instanceof AllTaken) throw error;
      if (tries === 0) logger.warn({ error: String(error) }, 'no worker number yet, trying on');
    }
    await sleep(RETRY_EVERY);
  }
}

async function takeFree(
  redis: RedisConnection,
  keys: RedisKeys,
  holder: string,
  max: number,
): Promise<Held> {
  for (let number = 0; number < max; number += 1) {
    const until = leaseFromNow();
    const taken = await redis.eval(TAKE, 1, keys.workerNumber(number), holder, LEASE);
    if (taken === 1) return { number, until };
  }
  throw new AllTaken(`all ${max} worker numbers are taken`);
}
