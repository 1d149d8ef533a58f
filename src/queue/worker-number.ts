/**
 * A worker's number for snowflake ids: leased in Redis, renewed while it lives, given up on loss.
 * Should two workers ever hold the same one (an emptied Redis), the unique `_id` of the ledger
 * refuses the second id and the worker draws another.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Logger } from '../logger';
import type { RedisKeys } from './keys';

const LEASE = 30_000;
const RENEW_EVERY = 5_000;

/** Extends the lease only for its holder. Returns 1 where it is still held. */
const RENEW = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`;
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/** No lease is held, so no id may be made; it comes back with Redis. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export interface WorkerNumber {
  /** @throws LeaseLost while no lease is held: no id may be made then */
  current(): number;
  release(): Promise<void>;
}

/** Leases the lowest free number. @throws Error where all are taken or Redis does not answer */
export async function leaseWorkerNumber(
  redis: Redis,
  keys: RedisKeys,
  { max, logger }: { max: number; logger: Logger },
): Promise<WorkerNumber> {
  const holder = randomUUID();
  let number = await takeFree(redis, keys, holder, max);
  let heldUntil = performance.now() + LEASE;

  const renew = async () => {
    const asked = performance.now();
    if ((await redis.eval(RENEW, 1, keys.workerNumber(number), holder, LEASE)) !== 1) {
      number = await takeFree(redis, keys, holder, max);
    }
    heldUntil = asked + LEASE;
  };
  const timer = setInterval(() => {
    renew().catch((error) => logger.warn({ error: String(error) }, 'worker number not renewed'));
  }, RENEW_EVERY);

  return {
    current: () => {
      if (performance.now() >= heldUntil)
        throw new LeaseLost('the lease of the worker number is lost');
      return number;
    },
    release: async () => {
      clearInterval(timer);
      await redis.eval(RELEASE, 1, keys.workerNumber(number), holder);
    },
  };
}

/** How many workers hold a number; one that died holds its own for up to 30 s. */
export function countWorkers(redis: Redis, keys: RedisKeys, max: number): Promise<number> {
  return redis.exists(Array.from({ length: max }, (_, number) => keys.workerNumber(number)));
}

async function takeFree(redis: Redis, keys: RedisKeys, holder: string, max: number) {
  for (let number = 0; number < max; number += 1) {
    const taken = await redis.set(keys.workerNumber(number), holder, 'PX', LEASE, 'NX');
    if (taken) return number;
  }
  throw new Error(`all ${max} worker numbers are taken`);
}
