/** Faults that only real servers have: of a replica set's members, and of a Redis that is full. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { withTimeout } from '../../src/concurrency/timeout';
import type { RedisKeys } from '../../src/queue/keys';
import { createPartitions } from '../../src/queue/partitions';
import { primariesOf, type RedisConnection } from '../../src/queue/redis';
import { createRedisTime } from '../../src/queue/redis-time';
import { type ClusterSet, REFUSED_SESSIONS, type SetMember } from '../harness/replica-set';
import { withAdmin } from '../local/mongod';

/** Seconds in which it is not elected again, and in which the others may catch up first. */
const STEP_DOWN = { replSetStepDown: 10, secondaryCatchUpPeriodSecs: 2, force: true };

/** The primary gives up being it, as before an upgrade: another one is elected at once. */
export async function stepDown(set: ClusterSet): Promise<void> {
  const { url } = await set.primary();
  try {
    await withAdmin(url, (db) => db.command(STEP_DOWN));
  } catch (error) {
    // A member that rejects the command is not the primary any more: the effect is the same.
    if (!(error instanceof mongo.MongoServerError)) throw error;
  }
}

/** A secondary answers, but takes nothing over from the others. */
export async function lag(set: ClusterSet, lasting: () => Promise<void>): Promise<void> {
  const one = [await set.secondary()];
  await setFailpoint(one, { ...TAKING_OVER, mode: 'alwaysOn' });
  await lasting();
  await setFailpoint(one, { ...TAKING_OVER, mode: 'off' });
}

/**
 * The primary takes writes that no other member has, and dies: when it comes back, another one is the
 * primary, and it has to give them up.
 */
export async function orphan(set: ClusterSet, lasting: () => Promise<void>): Promise<void> {
  const primary = await set.primary();
  const others = set.members.filter(({ url }) => url !== primary.url);
  await setFailpoint(others, { ...TAKING_OVER, mode: 'alwaysOn' });
  await lasting();
  primary.kill('SIGKILL');
  await setFailpoint(others, { ...TAKING_OVER, mode: 'off' });
  // Another fault may have left one of the others in its own rollback, which took three minutes once: two
  // of three are needed to elect, so the dead one comes back all the same.
  await withTimeout(set.primary(), ELECTING).catch(() => undefined);
  await primary.restart();
}

/** Milliseconds, about ten elections. */
const ELECTING = 30_000;

const TAKING_OVER = { configureFailPoint: 'stopReplProducer' };

/** Each running member rejects killSessions, as primary or later; a member that starts meanwhile does not. */
export async function rejectSessions(
  { members }: ClusterSet,
  lasting: () => Promise<void>,
): Promise<void> {
  const failpoint = { configureFailPoint: 'failCommand' };
  await setFailpoint(members, { ...failpoint, mode: 'alwaysOn', data: REFUSED_SESSIONS });
  await lasting();
  await setFailpoint(members, { ...failpoint, mode: 'off' });
}

/** Milliseconds for a member to answer: another fault may have it down, or stopped. */
const COMING_BACK = 60_000;
const BETWEEN_TRIES = 300;

/** @throws Error where a member does not take it within a minute */
async function setFailpoint(members: readonly SetMember[], command: mongo.Document): Promise<void> {
  await Promise.all(
    members.map(async ({ url }) => {
      const until = performance.now() + COMING_BACK;
      for (;;) {
        try {
          return await withAdmin(url, (db) => db.command(command));
        } catch (error) {
          if (performance.now() > until) throw error;
          await sleep(BETWEEN_TRIES);
        }
      }
    }),
  );
}

/**
 * The queue goes over to so many partitions in each shard, as it does when workers come or go. Where an
 * earlier change is not through yet, nothing happens.
 */
export async function changePartitions(
  redis: RedisConnection,
  keys: RedisKeys,
  count: number,
): Promise<void> {
  const time = createRedisTime(redis, () => performance.now());
  const limits = { pushes: 1, bytes: 1 };
  await createPartitions(redis, keys, limits, time).repartition(count);
}

/** All of Redis is emptied. */
export async function flush(redis: RedisConnection): Promise<void> {
  for (const server of primariesOf(redis)) await server.flushall();
}

/**
 * Redis may hold no more than it does now, and so much; it rejects what would need more.
 *
 * @param kibibytes beyond what it uses; below zero: it has too much already
 */
export async function fill(
  redis: Pick<RedisConnection, 'info' | 'config'>,
  kibibytes: number,
  lasting: () => Promise<void>,
): Promise<void> {
  const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
  await redis.config('SET', 'maxmemory', Math.max(1, used + kibibytes * 1_024));
  await lasting();
  await redis.config('SET', 'maxmemory', 0);
}
