/** Faults of the servers: of members of the replica set, and of a Redis without free memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { withTimeout } from '../../src/concurrency/timing';
import { primariesOf, type RedisConnection } from '../../src/infra/redis/connect';
import { type ClusterSet, REFUSED_SESSIONS, type SetMember } from '../harness/replica-set';
import { withAdmin } from '../local/mongod';

/** Seconds: the old primary is not elected again; the secondaries may catch up before. */
const STEP_DOWN = { replSetStepDown: 10, secondaryCatchUpPeriodSecs: 2, force: true };

/** Milliseconds: the harness may stand still for some seconds, and an attempt is not repeated. */
const STEPPING_DOWN = { connectMs: 30_000, commandMs: 30_000 };

/** The primary steps down, as before an upgrade. Another member is elected at once. */
export async function stepDown(set: ClusterSet): Promise<void> {
  const { url } = await set.primary();
  try {
    await withAdmin(url, (db) => db.command(STEP_DOWN), STEPPING_DOWN);
  } catch (error) {
    // A member that rejects the command is no longer the primary, so the effect is the same.
    if (!(error instanceof mongo.MongoServerError)) throw error;
  }
}

/** A secondary answers, but does not replicate. */
export async function lag(set: ClusterSet, lasting: () => Promise<void>): Promise<void> {
  const one = [await set.secondary()];
  await setFailpoint(one, { ...TAKING_OVER, mode: 'alwaysOn' });
  await lasting();
  await setFailpoint(one, { ...TAKING_OVER, mode: 'off' });
}

/**
 * The primary takes writes that no other member has, and dies. When it returns, another member is the primary, and
 * the old one has to roll the writes back.
 */
export async function orphan(set: ClusterSet, lasting: () => Promise<void>): Promise<void> {
  const primary = await set.primary();
  const others = set.members.filter(({ url }) => url !== primary.url);
  await setFailpoint(others, { ...TAKING_OVER, mode: 'alwaysOn' });
  await lasting();
  primary.kill('SIGKILL');
  await setFailpoint(others, { ...TAKING_OVER, mode: 'off' });
  // After an earlier fault another member may still roll back, which once took three minutes. An election needs two of
  // three members, so the dead one is restarted in any case.
  await withTimeout(set.primary(), ELECTING).catch(() => undefined);
  await primary.restart();
}

/** Milliseconds: about ten elections. */
const ELECTING = 30_000;

const TAKING_OVER = { configureFailPoint: 'stopReplProducer' };

/**
 * Each running member rejects killSessions, also if it becomes the primary later. A member that starts meanwhile does
 * not.
 */
export async function rejectSessions(
  { members }: ClusterSet,
  lasting: () => Promise<void>,
): Promise<void> {
  const failpoint = { configureFailPoint: 'failCommand' };
  await setFailpoint(members, { ...failpoint, mode: 'alwaysOn', data: REFUSED_SESSIONS });
  await lasting();
  await setFailpoint(members, { ...failpoint, mode: 'off' });
}

/** Milliseconds until a server accepts a command: another fault may have killed or stopped it. */
const COMING_BACK = 60_000;
const BETWEEN_TRIES = 300;

/** @throws Error if a member does not accept it within a minute */
async function setFailpoint(members: readonly SetMember[], command: mongo.Document): Promise<void> {
  await Promise.all(
    members.map(({ url }) => untilAccepted(() => withAdmin(url, (db) => db.command(command)))),
  );
}

/** @throws the last error if no try succeeds within a minute */
async function untilAccepted(tryOnce: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + COMING_BACK;
  for (;;) {
    try {
      await tryOnce();
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(BETWEEN_TRIES);
    }
  }
}

/** Empties Redis. A primary rejects this while its replicas lag, for example after an earlier fault. */
export async function flush(redis: RedisConnection): Promise<void> {
  await untilAccepted(async () => {
    for (const server of primariesOf(redis)) await server.flushall();
  });
}

/**
 * Limits the memory of Redis. Redis rejects writes above the limit.
 *
 * @param kibibytes the limit minus the used memory; negative: Redis is above the limit at once
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
