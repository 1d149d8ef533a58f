/**
 * The pool of database sessions in which a process commits. A process that dies, or whose connection is
 * cut, between its first write and its commit leaves a transaction open, and what it wrote locked,
 * until the server gives it up (a minute at best). So every process keeps a record of its sessions in
 * the database itself, where no loss of Redis reaches it, and looks after those of the others.
 */
import { randomBytes } from 'node:crypto';
import type { Connection, mongo } from 'mongoose';
import { createMutex, type Mutex } from '../concurrency/mutex';
import { startPollLoop } from '../concurrency/poll-loop';
import type { Logger } from '../runtime/logger';
import { processName } from '../runtime/process-name';
import { createKillSessions } from './kill-sessions';
import { inTransaction } from './mongo';

type Work<T> = (session: mongo.ClientSession) => Promise<T>;

export interface SessionPool {
  /**
   * The id of the session at an index of the pool, hex; the session starts when it is first asked for.
   */
  idOf(index: number): string;
  /**
   * Runs writes in one transaction of a pooled session; those of one session never overlap.
   *
   * @param id of the session, as `idOf` returned it when the work began
   * @throws SessionReplaced where the session was replaced since: its batch timed out
   */
  commit<T>(id: string, work: Work<T>): Promise<T>;
  /** Retires the session at an index and puts another one there: the work in the retired one fails. */
  replace(index: number): void;
  /**
   * Ends the open transactions of these sessions, also of sessions of other processes, where the server
   * allows it; where the server cannot be reached now, a moment later. Sessions of this pool are left alone: they are in
   * use, or ended before its next commit.
   */
  kill(ids: readonly string[]): Promise<void>;
  /** Gives the sessions back. */
  end(): Promise<void>;
}

/** A batch that timed out must not commit in the session of its successor. */
export class SessionReplaced extends Error {
  override readonly name = 'SessionReplaced';
}

/** What a process tells the others: that it lives, and which sessions to end when it dies. */
interface Heartbeat {
  readonly _id: string;
  /** Of the process; one of an earlier version does not write it. */
  readonly name?: string;
  /** A counter that goes up while the process lives: no clock counts. */
  readonly heartbeat: number;
  readonly sessions: readonly string[];
}

/** Milliseconds between two heartbeats, lengthened by up to half at random. */
const INTERVAL = 700;
/** Looks at which a heartbeat has not changed before its process counts as dead. */
const PATIENCE = 4;
/** Retired sessions that are remembered: of more, the server has ended the oldest itself. */
const MAX_RETIRED = 50;
/** A session that nobody has: ending it tells whether the server lets us. */
const NOBODY = '00000000000000000000000000000000';

/** @param name of this process, for the others' logs */
export function createSessionPool(
  connection: Connection,
  logger: Logger,
  name = processName('worker'),
): SessionPool {
  const client = connection.getClient();
  const heartbeats = connection.collection<Heartbeat>('session_owners');
  const me = randomBytes(8).toString('hex');
  const pool = new Map<number, PooledSession>();
  /** Retired sessions, which may have a transaction open. */
  const retired = new Set<string>();
  const pooledAt = (index: number): PooledSession => {
    const pooled = pool.get(index) ?? newPooled(client.startSession());
    pool.set(index, pooled);
    return pooled;
  };

  const kill = createKillSessions(client, logger);
  /** @returns undefined where it is to be tried again: nobody's work may rest on it */
  const tryKill = (ids: readonly string[]): Promise<boolean | undefined> =>
    kill(ids).catch((error) => {
      logger.debug({ error: String(error) }, 'sessions not ended, tried again soon');
      return undefined;
    });
  const killLater = (ids: readonly string[]): void => {
    for (const id of ids) retired.add(id);
    for (const id of [...retired].slice(0, -MAX_RETIRED)) retired.delete(id);
  };
  const writeHeartbeat = async (): Promise<void> => {
    const all = [...pool.values()];
    const sessions = [...all.map(({ id }) => id), ...retired];
    await heartbeats.updateOne(
      { _id: me },
      { $inc: { heartbeat: 1 }, $set: { name, sessions } },
      { upsert: true },
    );
    for (const pooled of all) pooled.isRecorded = true;
  };
  const oneHeartbeatAtATime = createMutex();
  /** An older heartbeat must not replace a newer one: it lacks a session. */
  const heartbeat = () => oneHeartbeatAtATime(writeHeartbeat);
  /**
   * A transaction that failed may be open still: its abort can be lost as well. A server that does not
   * end it for us does so itself where the session begins another one.
   */
  const makeReady = async (pooled: PooledSession): Promise<void> => {
    if (!pooled.isRecorded) await heartbeat();
    if (!pooled.hasFailed) return;
    if (!(await tryKill([pooled.id]))) {
      await inTransaction(pooled.session, (session) =>
        heartbeats.findOne({ _id: me }, { session }),
      );
    }
    pooled.hasFailed = false;
  };
  /** What another session of the pool left open may lock what is to be written. */
  const makeOthersReady = async (): Promise<void> => {
    const failed = [...pool.values()].filter((one) => one.hasFailed && one.exclusively.isFree());
    await Promise.all(failed.map((one) => one.exclusively(() => makeReady(one))));
  };
  const commitIn = <T>(pooled: PooledSession, work: Work<T>): Promise<T> =>
    pooled.exclusively(async () => {
      await Promise.all([makeReady(pooled), makeOthersReady()]);
      pooled.hasFailed = true;
      const result = await inTransaction(pooled.session, work);
      pooled.hasFailed = false;
      return result;
    });

  const findDead = watchHeartbeats(me);
  const reapDeadProcesses = async (): Promise<void> => {
    const found = await heartbeats.find({}).toArray();
    for (const { _id, name: gone = _id, heartbeat: last, sessions } of findDead(found)) {
      if ((await tryKill(sessions)) === undefined) continue;
      logger.warn({ gone }, 'ending the transactions of a process that is gone');
      await heartbeats.deleteOne({ _id, heartbeat: last });
    }
  };
  /** Its session is ended once its work is over, however that ends. */
  const retire = (pooled: PooledSession): void => {
    killLater([pooled.id]);
    pooled
      .exclusively(() => endForGood(pooled.session))
      .catch((error) => logger.debug({ error: String(error) }, 'session not ended'));
  };
  let isAsked = false;
  const care = async (): Promise<void> => {
    await heartbeat();
    // Said at the start, not when the first worker has died.
    if (!isAsked) isAsked = (await tryKill([NOBODY])) !== undefined;
    const ids = [...retired];
    const isOver = (await tryKill(ids)) !== undefined;
    if (isOver) for (const id of ids) retired.delete(id);
    for (const pooled of pool.values()) {
      // One that is in use is made ready by its next commit, and may be in use for long.
      if (pooled.exclusively.isFree()) await pooled.exclusively(() => makeReady(pooled));
    }
    await reapDeadProcesses();
  };
  const caring = startPollLoop(care, INTERVAL, (error) => {
    logger.debug({ error: String(error) }, 'sessions not looked after, tried again soon');
  });

  return {
    idOf: (index) => pooledAt(index).id,
    commit: async (id, work) => {
      const pooled = [...pool.values()].find((one) => one.id === id);
      if (!pooled) throw new SessionReplaced('another session is in its place of the pool now');
      return commitIn(pooled, work);
    },
    replace: (index) => {
      const old = pool.get(index);
      if (old) retire(old);
      pool.delete(index);
    },
    kill: async (ids) => {
      const own = new Set([...pool.values()].map(({ id }) => id));
      const others = ids.filter((id) => !own.has(id));
      if ((await tryKill(others)) === undefined) killLater(others);
    },
    end: async () => {
      await caring.stop();
      await Promise.all([...pool.values()].map(({ session }) => session.endSession()));
      await heartbeats.deleteOne({ _id: me });
    },
  };
}

interface PooledSession {
  readonly session: mongo.ClientSession;
  /** Hex. */
  readonly id: string;
  /** Runs what makes use of the session: one after the other. */
  readonly exclusively: Mutex;
  /** Its last transaction may be open. */
  hasFailed: boolean;
  /** The heartbeat in the database names it. */
  isRecorded: boolean;
}

function newPooled(session: mongo.ClientSession): PooledSession {
  const id = session.id?.id.toString('hex') ?? '';
  return { session, id, exclusively: createMutex(), hasFailed: false, isRecorded: false };
}

/** Others may still end the session by its id: the driver must not give it to anybody else. */
async function endForGood(session: mongo.ClientSession): Promise<void> {
  session.serverSession.isDirty = true;
  await session.endSession();
}

/** @returns to be called at each look: the heartbeats that stayed the same for too long */
function watchHeartbeats(me: string): (seen: readonly Heartbeat[]) => Heartbeat[] {
  let known = new Map<string, { heartbeat: number; looks: number }>();
  return (seen) => {
    const before = known;
    known = new Map();
    return seen.filter(({ _id, heartbeat }) => {
      const last = before.get(_id);
      const looks = last?.heartbeat === heartbeat ? last.looks + 1 : 0;
      known.set(_id, { heartbeat, looks });
      return _id !== me && looks >= PATIENCE;
    });
  };
}
