/** Parts of the session pool: transactions (`PooledSession`), `killSessions`, and the search for dead processes. */
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
  /** Whether the database record of this process (`SessionHeartbeat`) lists the session. */
  isRecorded = false;
  /** Whether the last transaction of the session may still be open. */
  mayBeOpen = false;

  constructor(private readonly session: mongo.ClientSession) {
    this.id = session.id?.id.toString('hex') ?? '';
  }

  async commit<T>(work: Work<T>): Promise<T> {
    this.mayBeOpen = true;
    const result = await inTransaction(this.session, work);
    this.mayBeOpen = false;
    return result;
  }

  isFree(): boolean {
    return this.exclusively.isFree();
  }

  async end(): Promise<void> {
    await this.session.endSession();
  }

  /** The driver must not reuse the session, because a later `killSessions` can still name its id. */
  async endForGood(): Promise<void> {
    this.session.serverSession.isDirty = true;
    await this.session.endSession();
  }
}

/**
 * Runs `work` in one transaction. This function never retries. If the caller retries, `work` must read its documents
 * again.
 */
export async function inTransaction<T>(
  session: mongo.ClientSession,
  work: (session: mongo.ClientSession) => Promise<T>,
): Promise<T> {
  // `startTransaction` throws if an earlier transaction is still open. It stands before `try`, so that `catch` does
  // not abort the earlier transaction.
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
 * Ends the open transactions of the sessions. Some editions of MongoDB reject `killSessions` (docs/reliability.md,
 * "What remains").
 *
 * @param ids session ids, hex
 * @returns false if MongoDB rejects the command
 * @throws the driver's error if MongoDB is unavailable
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

/** The sessions of a process. If the process dies, other processes end the transactions of these sessions. */
export interface SessionHeartbeat {
  readonly _id: string;
  readonly name: string;
  /** A counter that increases while the process lives. */
  readonly heartbeat: number;
  readonly sessions: readonly string[];
}

/** A process counts as dead if this many consecutive checks find its heartbeat unchanged. */
const MISSED_CHECKS_UNTIL_DEAD = 4;

export class SessionHeartbeats {
  private readonly records: mongo.Collection<SessionHeartbeat>;
  private readonly me = randomBytes(8).toString('hex');
  private known = new Map<string, { heartbeat: number; unchangedChecks: number }>();

  constructor(
    connection: Connection,
    private readonly name: string,
  ) {
    this.records = connection.collection<SessionHeartbeat>('session_owners');
  }

  async write(sessions: readonly string[]): Promise<void> {
    await this.records.updateOne(
      { _id: this.me },
      { $inc: { heartbeat: 1 }, $set: { name: this.name, sessions } },
      { upsert: true },
    );
  }

  /** Each call counts as one check (MISSED_CHECKS_UNTIL_DEAD). */
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

  async sessionsOfOthers(): Promise<string[]> {
    const others = await this.records.find({ _id: { $ne: this.me } }).toArray();
    return others.flatMap(({ sessions }) => sessions);
  }

  /** Removes the record of a dead process if the heartbeat is still unchanged. */
  async remove({ _id, heartbeat }: SessionHeartbeat): Promise<void> {
    await this.records.deleteOne({ _id, heartbeat });
  }

  /**
   * Call this method first in a transaction, because its command starts the transaction on the server. MongoDB then
   * aborts an earlier open transaction of the same session.
   */
  async readOwn(session: mongo.ClientSession): Promise<void> {
    await this.records.findOne({ _id: this.me }, { session });
  }

  /** The caller must first end all transactions of this process. */
  async end(): Promise<void> {
    await this.records.deleteOne({ _id: this.me });
  }
}
