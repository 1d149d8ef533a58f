/**
 * Entry point of `storage/sessions/`: the pool of database sessions of a worker. An open transaction of a dead worker
 * locks documents for at least a minute. Two mechanisms end the transaction earlier:
 *
 * - Redis stores the session ids of each partition owner (`src/queue/records.ts`). The next owner of the partition
 *   ends the transactions of these sessions. This mechanism fails if Redis loses its data.
 * - Every worker writes its session ids and a heartbeat to MongoDB (`SessionHeartbeats`). If the heartbeat of a
 *   worker stops, other workers end the transactions of this worker.
 */
import type { Connection, mongo } from 'mongoose';
import { type PollLoop, startPollLoop } from '../concurrency/timing';
import { createMutex } from '../concurrency/turns';
import type { Logger } from '../infra/logger';
import {
  createKillSessions,
  type KillSessions,
  PooledSession,
  SessionHeartbeats,
  type Work,
} from './sessions/pooled-session';

/** The pool has retired the session of the batch. */
export class SessionReplaced extends Error {
  override readonly name = 'SessionReplaced';
}

/** Milliseconds between two heartbeats. */
const INTERVAL = 700;
/** Maximum retired sessions that the pool remembers. */
const MAX_RETIRED = 50;
/** An id that no session has. */
const NO_SESSION = '00000000000000000000000000000000';

const KILLED = 'ended the transactions of a dead process';
const NOT_KILLED =
  'a process died and killSessions is rejected: MongoDB ends its transactions after transactionLifetimeLimitSeconds';

export class SessionPool {
  private readonly client: mongo.MongoClient;
  private readonly pool = new Map<number, PooledSession>();
  /** Ids of the sessions whose open transactions the pool must still end. */
  private readonly retired = new Set<string>();
  private readonly heartbeats: SessionHeartbeats;
  private readonly oneHeartbeatAtATime = createMutex();
  private readonly killSessions: KillSessions;
  private readonly maintenance: PollLoop;
  private isChecked = false;

  constructor(
    connection: Connection,
    private readonly logger: Logger,
    name: string,
  ) {
    this.client = connection.getClient();
    this.heartbeats = new SessionHeartbeats(connection, name);
    this.killSessions = createKillSessions(this.client, logger);
    this.maintenance = startPollLoop(
      () => this.maintain(),
      INTERVAL,
      (error) => logger.debug({ error: String(error) }, 'could not check the sessions, retrying'),
    );
  }

  /** Hex id of a session. The first call for an `index` starts the session. */
  readonly idOf = (index: number): string => {
    const pooled = this.pool.get(index) ?? new PooledSession(this.client.startSession());
    this.pool.set(index, pooled);
    return pooled.id;
  };

  /**
   * Runs `work` in one transaction. Transactions of one session never overlap.
   *
   * @throws SessionReplaced if the session was retired; the errors of `work` and of the driver
   */
  async commit<T>(id: string, work: Work<T>): Promise<T> {
    const pooled = [...this.pool.values()].find((one) => one.id === id);
    if (!pooled) throw new SessionReplaced('the session of this batch was replaced');
    return pooled.exclusively(async () => {
      await Promise.all([this.makeReady(pooled), this.makeOthersReady()]);
      return pooled.commit(work);
    });
  }

  /** Retires the session of this index. The next call of `idOf` starts a new session. */
  replace(index: number): void {
    const old = this.pool.get(index);
    this.pool.delete(index);
    if (!old) return;
    this.killLater([old.id]);
    old
      .exclusively(() => old.endForGood())
      .catch((error) =>
        this.logger.debug(
          { error: String(error) },
          'could not end the session of an abandoned batch',
        ),
      );
  }

  /** Ends the open transactions of the sessions `ids`. Skips the pool's own sessions, which `makeReady` handles. */
  async kill(ids: readonly string[]): Promise<void> {
    const own = new Set([...this.pool.values()].map(({ id }) => id));
    const others = ids.filter((id) => !own.has(id));
    if ((await this.tryKill(others)) === undefined) this.killLater(others);
  }

  /**
   * Ends the open transactions of all other processes, if MongoDB permits `killSessions`. Live partition owners then
   * retry their batches.
   *
   * @throws the driver's error
   */
  async killOthers(): Promise<void> {
    await this.killSessions(await this.heartbeats.sessionsOfOthers());
  }

  async endRetired(): Promise<void> {
    if (this.retired.size > 0) await this.killRetired();
  }

  async end(): Promise<void> {
    await this.maintenance.stop();
    await Promise.all([...this.pool.values()].map((one) => one.end()));
    await this.heartbeats.end();
  }

  /**
   * A failed transaction stays open if MongoDB did not receive the abort. `killSessions` or the next transaction
   * of the session ends the failed transaction.
   */
  private async makeReady(pooled: PooledSession): Promise<void> {
    if (!pooled.isRecorded) await this.heartbeat();
    if (!pooled.mayBeOpen) return;
    if (await this.tryKill([pooled.id])) pooled.mayBeOpen = false;
    else await pooled.commit((session) => this.heartbeats.readOwn(session));
  }

  /** Failed transactions in other sessions of this pool can lock documents. */
  private async makeOthersReady(): Promise<void> {
    const failed = [...this.pool.values()].filter((one) => one.mayBeOpen && one.isFree());
    await Promise.all(failed.map((one) => one.exclusively(() => this.makeReady(one))));
  }

  private async maintain(): Promise<void> {
    await this.heartbeat();
    // Tests at the start of the process whether MongoDB permits `killSessions`.
    if (!this.isChecked) this.isChecked = (await this.tryKill([NO_SESSION])) !== undefined;
    await this.killRetired();
    for (const pooled of this.pool.values()) {
      if (pooled.isFree()) await pooled.exclusively(() => this.makeReady(pooled));
    }
    await this.reapDeadProcesses();
  }

  /** An older list of sessions must not overwrite a newer list. */
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
      const areKilled = await this.tryKill(dead.sessions);
      if (areKilled === undefined) continue;
      this.logger.warn({ deadProcess: dead.name ?? dead._id }, areKilled ? KILLED : NOT_KILLED);
      await this.heartbeats.remove(dead);
    }
  }

  /** @returns false if MongoDB rejects `killSessions`; undefined if MongoDB is unavailable */
  private async tryKill(ids: readonly string[]): Promise<boolean | undefined> {
    try {
      return await this.killSessions(ids);
    } catch (error) {
      this.logger.debug(
        { error: String(error) },
        'could not end transactions with killSessions, retrying',
      );
      return undefined;
    }
  }

  private killLater(ids: readonly string[]): void {
    for (const id of ids) this.retired.add(id);
    for (const id of [...this.retired].slice(0, -MAX_RETIRED)) this.retired.delete(id);
  }
}
