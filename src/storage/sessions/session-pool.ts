/**
 * The pool of database sessions in which a process commits. A process that dies, or whose connection is
 * cut, between its first write and its commit leaves a transaction open, and what it wrote locked,
 * until the server gives it up (a minute at best). Two fences end it sooner, each where the other one
 * cannot; `test/integration/promises/one-effect.test.ts` fails without either:
 *
 * - The owners of a partition (`src/queue/owner.ts`). The next batch of the partition knows them before it
 *   commits, and so ends the transaction of a worker that died a moment ago, and also of one that lives
 *   and has lost the partition (stopped, cut off from Redis, or at work for too long). They are in
 *   Redis, and gone with it.
 * - The heartbeats (`heartbeats.ts`). They are in the database itself, where no loss of Redis reaches
 *   them: every process records its sessions there, and ends those of a process that is gone. That
 *   takes some seconds, and never ends the work of a process that lives.
 */
import type { Connection, mongo } from 'mongoose';
import { createMutex } from '../../concurrency/mutex';
import { type PollLoop, startPollLoop } from '../../concurrency/poll-loop';
import type { Logger } from '../../runtime/logger';
import { SessionHeartbeats } from './heartbeats';
import { createKillSessions, type KillSessions } from './kill-sessions';
import { PooledSession, type Work } from './pooled-session';

/** A batch that timed out must not commit in the session of its successor. */
export class SessionReplaced extends Error {
  override readonly name = 'SessionReplaced';
}

/** Milliseconds between two heartbeats, lengthened by up to half at random. */
const INTERVAL = 700;
/** Retired sessions that are remembered: of more, the server has ended the oldest itself. */
const MAX_RETIRED = 50;
/** A session that nobody has: ending it tells whether the server lets us. */
const NOBODY = '00000000000000000000000000000000';

export class SessionPool {
  private readonly client: mongo.MongoClient;
  private readonly pool = new Map<number, PooledSession>();
  /** Sessions to be ended, which may have a transaction open. */
  private readonly retired = new Set<string>();
  private readonly heartbeats: SessionHeartbeats;
  private readonly oneHeartbeatAtATime = createMutex();
  private readonly killSessions: KillSessions;
  private readonly caring: PollLoop;
  /** The server has told whether it lets us end sessions. */
  private isAsked = false;

  /** @param name of this process, for the others' logs */
  constructor(
    connection: Connection,
    private readonly logger: Logger,
    name: string,
  ) {
    this.client = connection.getClient();
    this.heartbeats = new SessionHeartbeats(connection, name);
    this.killSessions = createKillSessions(this.client, logger);
    this.caring = startPollLoop(
      () => this.care(),
      INTERVAL,
      (error) => logger.debug({ error: String(error) }, NOT_CARED),
    );
  }

  /**
   * The id of the session at an index of the pool, hex; the session starts when it is first asked for.
   */
  readonly idOf = (index: number): string => {
    const pooled = this.pool.get(index) ?? new PooledSession(this.client.startSession());
    this.pool.set(index, pooled);
    return pooled.id;
  };

  /**
   * Runs writes in one transaction of a pooled session; those of one session never overlap.
   *
   * @param id of the session, as `idOf` returned it when the work began
   * @throws SessionReplaced where the session was replaced since: its batch timed out
   */
  async commit<T>(id: string, work: Work<T>): Promise<T> {
    const pooled = [...this.pool.values()].find((one) => one.id === id);
    if (!pooled) throw new SessionReplaced('another session is in its place of the pool now');
    return pooled.exclusively(async () => {
      await Promise.all([this.makeReady(pooled), this.makeOthersReady()]);
      return pooled.commit(work);
    });
  }

  /** Retires the session at an index, and another one takes its place: the work in the retired one fails. */
  replace(index: number): void {
    const old = this.pool.get(index);
    this.pool.delete(index);
    if (!old) return;
    this.killLater([old.id]);
    // Once its work is over, however that ends.
    old
      .exclusively(() => old.endForGood())
      .catch((error) => this.logger.debug({ error: String(error) }, 'session not ended'));
  }

  /**
   * Ends the open transactions of these sessions, also of sessions of other processes, where the server
   * allows it; where the server cannot be reached now, a moment later. Sessions of this pool are left
   * alone: they are in use, or ended before its next commit.
   */
  async kill(ids: readonly string[]): Promise<void> {
    const own = new Set([...this.pool.values()].map(({ id }) => id));
    const others = ids.filter((id) => !own.has(id));
    if ((await this.tryKill(others)) === undefined) this.killLater(others);
  }

  /**
   * Ends the open transactions of all other processes; those that still hold their partitions try again.
   *
   * @throws the driver's error: they may commit yet
   */
  async killOthers(): Promise<void> {
    await this.killSessions(await this.heartbeats.sessionsOfOthers());
  }

  /** Ends what batches that were given up have left open, if there is any. */
  async endRetired(): Promise<void> {
    if (this.retired.size > 0) await this.killRetired();
  }

  /** Gives the sessions back. */
  async end(): Promise<void> {
    await this.caring.stop();
    await Promise.all([...this.pool.values()].map((one) => one.end()));
    await this.heartbeats.end();
  }

  /**
   * A transaction that failed may be open still: its abort can be lost as well. A server that does not
   * end it for us does so itself where the session begins another one.
   */
  private async makeReady(pooled: PooledSession): Promise<void> {
    if (!pooled.isRecorded) await this.heartbeat();
    if (!pooled.hasFailed) return;
    if (await this.tryKill([pooled.id])) pooled.hasFailed = false;
    else await pooled.commit((session) => this.heartbeats.readOwn(session));
  }

  /** What another session of the pool left open may lock what is to be written. */
  private async makeOthersReady(): Promise<void> {
    const failed = [...this.pool.values()].filter((one) => one.hasFailed && one.isFree());
    await Promise.all(failed.map((one) => one.exclusively(() => this.makeReady(one))));
  }

  /** What is done again and again, whether anything is committed or not. */
  private async care(): Promise<void> {
    await this.heartbeat();
    // Said at the start, not when the first worker has died.
    if (!this.isAsked) this.isAsked = (await this.tryKill([NOBODY])) !== undefined;
    await this.killRetired();
    for (const pooled of this.pool.values()) {
      // One that is in use is made ready by its next commit, and may be in use for long.
      if (pooled.isFree()) await pooled.exclusively(() => this.makeReady(pooled));
    }
    await this.reapDeadProcesses();
  }

  /** One at a time: an older heartbeat must not replace a newer one, since it lacks a session. */
  private heartbeat(): Promise<void> {
    return this.oneHeartbeatAtATime(async () => {
      const pooled = [...this.pool.values()];
      await this.heartbeats.write([...pooled.map(({ id }) => id), ...this.retired]);
      for (const one of pooled) one.isRecorded = true;
    });
  }

  private async killRetired(): Promise<void> {
    const ids = [...this.retired];
    if ((await this.tryKill(ids)) === undefined) return;
    for (const id of ids) this.retired.delete(id);
  }

  private async reapDeadProcesses(): Promise<void> {
    for (const dead of await this.heartbeats.findDead()) {
      if ((await this.tryKill(dead.sessions)) === undefined) continue;
      const gone = dead.name ?? dead._id;
      this.logger.warn({ gone }, 'ending the transactions of a process that is gone');
      await this.heartbeats.forget(dead);
    }
  }

  /** @returns undefined where it is to be tried again: nobody's work may rest on it */
  private async tryKill(ids: readonly string[]): Promise<boolean | undefined> {
    try {
      return await this.killSessions(ids);
    } catch (error) {
      this.logger.debug({ error: String(error) }, 'sessions not ended, tried again soon');
      return undefined;
    }
  }

  private killLater(ids: readonly string[]): void {
    for (const id of ids) this.retired.add(id);
    for (const id of [...this.retired].slice(0, -MAX_RETIRED)) this.retired.delete(id);
  }
}

const NOT_CARED = 'sessions not looked after, tried again soon';
