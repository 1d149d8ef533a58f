/**
 * Entry point of `storage/sessions/`: the pool of database sessions in which a process commits. If a process dies or
 * loses its connection before its commit, its open transaction keeps documents locked. MongoDB ends the transaction
 * only after at least a minute (`transactionLifetimeLimitSeconds`). Two mechanisms end such transactions earlier. Both
 * are necessary: `test/integration/promises/one-effect.test.ts` fails if one of the mechanisms is missing.
 *
 * - The ownership of partitions. For each partition, Redis stores the sessions of the owner (`src/queue/records.ts`).
 *   The next owner ends the transactions of these sessions before its own first commit. This mechanism also stops a
 *   living worker that has lost the partition. The mechanism fails if Redis has lost its data.
 * - The heartbeats (`SessionHeartbeats`). Every worker records its sessions in the database and ends the
 *   transactions of dead workers. A worker counts as dead when its heartbeat has not changed for some seconds.
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

/**
 * The batch was abandoned: it timed out, or its worker was paused. Its session was retired, so that the batch can no
 * longer commit.
 */
export class SessionReplaced extends Error {
  override readonly name = 'SessionReplaced';
}

/** Milliseconds between two heartbeats, randomly extended by up to half. */
const INTERVAL = 700;
/**
 * Maximum retired sessions whose transactions the pool still has to end. Above the maximum, the pool forgets the
 * sessions that were retired first. MongoDB ends their transactions after `transactionLifetimeLimitSeconds`.
 */
const MAX_RETIRED = 50;
/** An id that no session has. The pool uses this id to test whether MongoDB permits `killSessions`. */
const NO_SESSION = '00000000000000000000000000000000';

const KILLED = 'ended the transactions of a dead process';
const NOT_KILLED =
  'a process died: the database ends the transactions of the process after transactionLifetimeLimitSeconds';

export class SessionPool {
  private readonly client: mongo.MongoClient;
  private readonly pool = new Map<number, PooledSession>();
  /** Retired sessions, and sessions of earlier owners, whose transactions the pool still has to end. */
  private readonly retired = new Set<string>();
  private readonly heartbeats: SessionHeartbeats;
  private readonly oneHeartbeatAtATime = createMutex();
  private readonly killSessions: KillSessions;
  private readonly maintenance: PollLoop;
  /** Whether the pool has tested if MongoDB permits `killSessions`. */
  private isChecked = false;

  /** @param name name of this process, which other processes log when they end its transactions */
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

  /** The id of the session at this index of the pool, hex. The first call for an index starts the session. */
  readonly idOf = (index: number): string => {
    const pooled = this.pool.get(index) ?? new PooledSession(this.client.startSession());
    this.pool.set(index, pooled);
    return pooled.id;
  };

  /**
   * Runs writes in one transaction of a pooled session. Transactions of one session never overlap.
   *
   * @param id the session id that `idOf` returned when the batch began
   * @throws SessionReplaced if the session was retired because its batch was abandoned; the errors of `work` and of the
   *   driver
   */
  async commit<T>(id: string, work: Work<T>): Promise<T> {
    const pooled = [...this.pool.values()].find((one) => one.id === id);
    if (!pooled) throw new SessionReplaced('the session of this batch was replaced');
    return pooled.exclusively(async () => {
      await Promise.all([this.makeReady(pooled), this.makeOthersReady()]);
      return pooled.commit(work);
    });
  }

  /**
   * Retires the session at an index, so that its transaction fails. The next `idOf` of this index starts a new session.
   */
  replace(index: number): void {
    const old = this.pool.get(index);
    this.pool.delete(index);
    if (!old) return;
    this.killLater([old.id]);
    // The session ends after its running transaction has succeeded or failed.
    old
      .exclusively(() => old.endForGood())
      .catch((error) =>
        this.logger.debug(
          { error: String(error) },
          'could not end the session of an abandoned batch',
        ),
      );
  }

  /**
   * Ends the open transactions of the sessions with these ids, if MongoDB permits `killSessions`. If MongoDB is
   * unavailable, the pool retries later. The pool skips its own sessions, because `commit` ends the failed transactions
   * of these sessions.
   */
  async kill(ids: readonly string[]): Promise<void> {
    const own = new Set([...this.pool.values()].map(({ id }) => id));
    const others = ids.filter((id) => !own.has(id));
    if ((await this.tryKill(others)) === undefined) this.killLater(others);
  }

  /**
   * Ends the open transactions of all other processes. A living process that still owns its partitions retries its
   * batch.
   *
   * @throws the driver's error; the transactions can then still commit
   */
  async killOthers(): Promise<void> {
    await this.killSessions(await this.heartbeats.sessionsOfOthers());
  }

  /**
   * Ends the open transactions of retired sessions: sessions of abandoned batches, and sessions whose transactions an
   * earlier call of `kill` could not end.
   */
  async endRetired(): Promise<void> {
    if (this.retired.size > 0) await this.killRetired();
  }

  /** Ends all sessions of the pool. */
  async end(): Promise<void> {
    await this.maintenance.stop();
    await Promise.all([...this.pool.values()].map((one) => one.end()));
    await this.heartbeats.end();
  }

  /**
   * Records the session in the database, and ends the last transaction of the session if that transaction failed. A
   * failed transaction stays open if MongoDB never received the abort. If MongoDB rejects `killSessions`, a new
   * transaction in the same session ends the failed transaction.
   */
  private async makeReady(pooled: PooledSession): Promise<void> {
    if (!pooled.isRecorded) await this.heartbeat();
    if (!pooled.mayBeOpen) return;
    if (await this.tryKill([pooled.id])) pooled.mayBeOpen = false;
    else await pooled.commit((session) => this.heartbeats.readOwn(session));
  }

  /**
   * Ends failed transactions of the free sessions of this pool. These transactions can lock documents of the next
   * batch.
   */
  private async makeOthersReady(): Promise<void> {
    const failed = [...this.pool.values()].filter((one) => one.mayBeOpen && one.isFree());
    await Promise.all(failed.map((one) => one.exclusively(() => this.makeReady(one))));
  }

  /** Maintains the sessions at every interval, independently of commits. */
  private async maintain(): Promise<void> {
    await this.heartbeat();
    // This test runs at the start of the process. So a missing permission is logged before the first worker dies.
    if (!this.isChecked) this.isChecked = (await this.tryKill([NO_SESSION])) !== undefined;
    await this.killRetired();
    for (const pooled of this.pool.values()) {
      // Sessions in use are skipped, because waiting can take long. The next commit makes such a session ready.
      if (pooled.isFree()) await pooled.exclusively(() => this.makeReady(pooled));
    }
    await this.reapDeadProcesses();
  }

  /**
   * Writes the heartbeat with the list of sessions. Only one write runs at a time, so that an older list does not
   * replace a newer list.
   */
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
      await this.heartbeats.forget(dead);
    }
  }

  /** @returns false if MongoDB rejects `killSessions`; undefined if MongoDB is unavailable and the caller must retry */
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
