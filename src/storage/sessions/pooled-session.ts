/**
 * Parts of the session pool. `PooledSession` runs transactions. `createKillSessions` ends the transactions of given
 * sessions of any process. `SessionHeartbeats` finds dead processes and their sessions.
 */
import { randomBytes } from 'node:crypto';
import { type Connection, mongo } from 'mongoose';
import { createMutex, type Mutex } from '../../concurrency/turns';
import { isRejectedPermanently, throwAsDriverError } from '../../infra/driver-errors';
import type { Logger } from '../../infra/logger';
import { MAJORITY_WRITE_CONCERN } from '../../infra/mongo';

export type Work<T> = (session: mongo.ClientSession) => Promise<T>;

export class PooledSession {
  /** Session id, hex. */
  readonly id: string;
  /** Runs one task at a time, because a session has at most one transaction. */
  readonly exclusively: Mutex = createMutex();
  /** Whether the record of this process in the database lists the session. */
  isRecorded = false;
  /** Whether the last transaction of the session may still be open. */
  mayBeOpen = false;

  constructor(private readonly session: mongo.ClientSession) {
    this.id = session.id?.id.toString('hex') ?? '';
  }

  /** Runs `work` in one transaction. @throws the error of `work`, or the driver's error; see `inTransaction` */
  async commit<T>(work: Work<T>): Promise<T> {
    this.mayBeOpen = true;
    const result = await inTransaction(this.session, work);
    this.mayBeOpen = false;
    return result;
  }

  /** Whether no work uses the session or waits for it. */
  isFree(): boolean {
    return this.exclusively.isFree();
  }

  /** Returns the session to the driver. */
  async end(): Promise<void> {
    await this.session.endSession();
  }

  /**
   * Ends the session. The driver must not reuse the session id, because another process can still end transactions of
   * this id.
   */
  async endForGood(): Promise<void> {
    this.session.serverSession.isDirty = true;
    await this.session.endSession();
  }
}

/**
 * Runs `work` in one transaction: MongoDB commits all of its writes, or none. The function does not retry, because a
 * retry has to read documents again, and only the caller knows these documents.
 */
export async function inTransaction<T>(
  session: mongo.ClientSession,
  work: (session: mongo.ClientSession) => Promise<T>,
): Promise<T> {
  // This call precedes `try`: `startTransaction` throws if another caller's transaction is active, and `catch` must not
  // abort that transaction.
  session.startTransaction({ writeConcern: MAJORITY_WRITE_CONCERN });
  try {
    const result = await work(session);
    await session.commitTransaction().catch(throwAsDriverError);
    return result;
  } catch (error) {
    if (session.inTransaction()) await session.abortTransaction();
    throw error;
  }
}

/**
 * Ends the open transactions of sessions of any process. Some editions of MongoDB (Atlas M0 and Flex) reject the
 * command `killSessions`. Then MongoDB ends an open transaction only after `transactionLifetimeLimitSeconds`. In a rare
 * case, the transaction of a lost partition commits after the next owner of the partition has applied later pushes
 * (docs/reliability.md, "What remains").
 *
 * @param ids session ids, hex
 * @returns false if MongoDB rejects the command
 * @throws the driver's error if MongoDB is unavailable; a later attempt may succeed
 */
export type KillSessions = (ids: readonly string[]) => Promise<boolean>;

export function createKillSessions(client: mongo.MongoClient, logger: Logger): KillSessions {
  let isLogged = false;
  return async (ids) => {
    if (ids.length === 0) return true;
    const wanted = ids.map((id) => ({ id: new mongo.UUID(Buffer.from(id, 'hex')) }));
    try {
      await client.db('admin').command({ killSessions: wanted });
      return true;
    } catch (error) {
      if (!isRejectedPermanently(error)) throw error;
      if (!isLogged) logger.warn({ error: String(error) }, REJECTED);
      isLogged = true;
      return false;
    }
  };
}

const REJECTED =
  'the server rejects killSessions: transactions of a dead worker stay open for transactionLifetimeLimitSeconds';

/**
 * The record of a process: its heartbeat and its sessions. If the process dies, other processes end the transactions of
 * these sessions.
 */
export interface SessionHeartbeat {
  readonly _id: string;
  /** Name of the process. */
  readonly name: string;
  /** A counter that increases while the process lives. Unlike a time, it does not depend on synchronized clocks. */
  readonly heartbeat: number;
  readonly sessions: readonly string[];
}

/** A process counts as dead if this many checks in a row find its heartbeat unchanged. */
const MISSED_CHECKS_UNTIL_DEAD = 4;

/** Writes the heartbeat of this process, and reads the heartbeats of all processes. */
export class SessionHeartbeats {
  private readonly records: mongo.Collection<SessionHeartbeat>;
  private readonly me = randomBytes(8).toString('hex');
  /** By the id of a process: its last heartbeat, and the number of checks since the heartbeat changed. */
  private known = new Map<string, { heartbeat: number; unchangedChecks: number }>();

  /** @param name name of this process, which other processes log when they end its transactions */
  constructor(
    connection: Connection,
    private readonly name: string,
  ) {
    this.records = connection.collection<SessionHeartbeat>('session_owners');
  }

  /** Writes the next heartbeat. @param sessions ids of sessions; if this process dies, others end their transactions */
  async write(sessions: readonly string[]): Promise<void> {
    await this.records.updateOne(
      { _id: this.me },
      { $inc: { heartbeat: 1 }, $set: { name: this.name, sessions } },
      { upsert: true },
    );
  }

  /** Reads all heartbeats. @returns the records of dead processes (MISSED_CHECKS_UNTIL_DEAD) */
  async findDead(): Promise<SessionHeartbeat[]> {
    const found = await this.records.find({}).toArray();
    const before = this.known;
    this.known = new Map();
    return found.filter(({ _id, heartbeat }) => {
      const last = before.get(_id);
      const unchangedChecks = last?.heartbeat === heartbeat ? last.unchangedChecks + 1 : 0;
      this.known.set(_id, { heartbeat, unchangedChecks });
      return _id !== this.me && unchangedChecks >= MISSED_CHECKS_UNTIL_DEAD;
    });
  }

  /** @returns the sessions of all other processes, alive or not */
  async sessionsOfOthers(): Promise<string[]> {
    const others = await this.records.find({ _id: { $ne: this.me } }).toArray();
    return others.flatMap(({ sessions }) => sessions);
  }

  /** Removes the record of a dead process if the heartbeat is still unchanged. */
  async forget({ _id, heartbeat }: SessionHeartbeat): Promise<void> {
    await this.records.deleteOne({ _id, heartbeat });
  }

  /**
   * Reads one document in the transaction that the caller has started. This read is the first command of the new
   * transaction, so MongoDB ends the previous transaction of the session.
   */
  async readOwn(session: mongo.ClientSession): Promise<void> {
    await this.records.findOne({ _id: this.me }, { session });
  }

  /** Removes the record of this process. The process must have no open transaction. */
  async end(): Promise<void> {
    await this.records.deleteOne({ _id: this.me });
  }
}
