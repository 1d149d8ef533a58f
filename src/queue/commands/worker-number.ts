/**
 * Each worker leases a number in Redis. The ids of new matters contain this number. After Redis was emptied or has
 * lost a lease, two workers can have the same number for up to 5 s (docs/scaling.md).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPollLoop } from '../../concurrency/timing';
import { foldedLog } from '../../infra/folded-log';
import type { Logger } from '../../infra/logger';
import { defineScript } from '../../infra/redis/commands';
import type { RedisConnection } from '../../infra/redis/connect';
import type { RedisKeys } from '../keys';

/** Milliseconds until a lease expires. */
const LEASE = 30_000;
/** Minimum milliseconds between two renewals. The maximum is 50 % longer and must be below 5 s. */
const RENEW_EVERY = 3_300;
/** Milliseconds between two attempts of a starting worker. */
const RETRY_EVERY = 500;

const NOT_RENEWED = {
  level: 'warn',
  text: 'worker number not renewed',
  dueTo: ['redis'],
} as const;

/** Without a lease, a worker must not make matter ids. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

class AllTaken extends Error {
  override readonly name = 'AllTaken';
}

export type WorkerNumber = Awaited<ReturnType<typeof leaseWorkerNumber>>;

/**
 * Leases a free number, and renews the lease until `stop`. Waits while Redis is unavailable or rejects writes.
 *
 * @throws AllTaken if other workers have leased all numbers
 */
export async function leaseWorkerNumber(
  redis: RedisConnection,
  keys: RedisKeys,
  { max, logger }: { max: number; logger: Logger },
) {
  const token = randomUUID();
  const run = defineScript<number>(redis, __dirname, 'lease-worker-number');
  const lease = async (number: number) => {
    // `until` is computed before the command, so that this process never uses an expired lease.
    const until = performance.now() + LEASE;
    return (await run([keys.workerNumber(number)], [token, LEASE])) === 1 && { number, until };
  };
  const leaseFree = async () => {
    for (let number = 0; number < max; number += 1) {
      const leased = await lease(number);
      if (leased) return leased;
    }
    throw new AllTaken(`all ${max} worker numbers are taken`);
  };
  let held = await retryUntilTaken(leaseFree, logger);
  const renewing = startPollLoop(
    async () => {
      held = (await lease(held.number)) || (await leaseFree());
    },
    RENEW_EVERY,
    (error) => foldedLog(logger)(NOT_RENEWED, { error: String(error) }),
  );
  return {
    /** @throws LeaseLost while this worker has no lease */
    current: (): number => {
      if (performance.now() < held.until) return held.number;
      throw new LeaseLost('the lease of the worker number is lost');
    },
    /** @throws the connection's error */
    stop: async (): Promise<void> => {
      await renewing.stop();
      await run([keys.workerNumber(held.number)], [token, 0]);
    },
  };
}

async function retryUntilTaken<T>(take: () => Promise<T>, logger: Logger): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await take();
    } catch (error) {
      if (error instanceof AllTaken) throw error;
      if (tries === 0)
        logger.warn({ error: String(error) }, 'could not lease a worker number, retrying');
    }
    await sleep(RETRY_EVERY);
  }
}

/** @returns the number of leases */
export function countWorkers(
  redis: RedisConnection,
  keys: RedisKeys,
  max: number,
): Promise<number> {
  return redis.exists(Array.from({ length: max }, (_, number) => keys.workerNumber(number)));
}
