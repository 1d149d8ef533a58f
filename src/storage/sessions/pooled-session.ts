/** A session of the pool: what it is used for never overlaps. */
import type { mongo } from 'mongoose';
import { createMutex, type Mutex } from '../../concurrency/mutex';
import { inTransaction } from '../transactions';

export type Work<T> = (session: mongo.ClientSession) => Promise<T>;

export class PooledSession {
  /** Hex. */
  readonly id: string;
  /** Runs what makes use of the session: one after the other. */
  readonly exclusively: Mutex = createMutex();
  /** The heartbeat in the database names it. */
  isRecorded = false;
  /** Its last transaction may be open. */
  hasFailed = false;

  constructor(private readonly session: mongo.ClientSession) {
    this.id = session.id?.id.toString('hex') ?? '';
  }

  /** Runs `work` in one transaction. @throws what it throws, or the driver's error; see inTransaction */
  async commit<T>(work: Work<T>): Promise<T> {
    this.hasFailed = true;
    const result = await inTransaction(this.session, work);
    this.hasFailed = false;
    return result;
  }

  /** Nothing makes use of it, or waits to. */
  isFree(): boolean {
    return this.exclusively.isFree();
  }

  /** Gives it back to the driver. */
  async end(): Promise<void> {
    await this.session.endSession();
  }

  /** Others may still end the session by its id: the driver must not give it to anybody else. */
  async endForGood(): Promise<void> {
    this.session.serverSession.isDirty = true;
    await this.session.endSession();
  }
}
