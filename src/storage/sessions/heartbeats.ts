/** Session heartbeats: the records by which processes see which of them is gone, and what it left open. */
import { randomBytes } from 'node:crypto';
import type { Connection, mongo } from 'mongoose';

/** What a process tells the others: that it lives, and which sessions to end when it dies. */
export interface Heartbeat {
  readonly _id: string;
  /** Of the process; one of an earlier version does not write it. */
  readonly name?: string;
  /** A counter that goes up while the process lives: no clock counts. */
  readonly heartbeat: number;
  readonly sessions: readonly string[];
}

/** Looks at which a heartbeat has not changed before its process counts as dead. */
const PATIENCE = 4;

/** The heartbeats of this process and of the others, in the database. */
export class SessionHeartbeats {
  private readonly records: mongo.Collection<Heartbeat>;
  private readonly me = randomBytes(8).toString('hex');
  /** By process, its heartbeat and the looks at which that was the same. */
  private known = new Map<string, { heartbeat: number; looks: number }>();

  /** @param name of this process, for the others' logs */
  constructor(
    connection: Connection,
    private readonly name: string,
  ) {
    this.records = connection.collection<Heartbeat>('session_owners');
  }

  /** @param sessions to be ended should this process die */
  async write(sessions: readonly string[]): Promise<void> {
    await this.records.updateOne(
      { _id: this.me },
      { $inc: { heartbeat: 1 }, $set: { name: this.name, sessions } },
      { upsert: true },
    );
  }

  /** Looks at all heartbeats. @returns those of others that have stayed the same for too long */
  async findDead(): Promise<Heartbeat[]> {
    const found = await this.records.find({}).toArray();
    const before = this.known;
    this.known = new Map();
    return found.filter(({ _id, heartbeat }) => {
      const last = before.get(_id);
      const looks = last?.heartbeat === heartbeat ? last.looks + 1 : 0;
      this.known.set(_id, { heartbeat, looks });
      return _id !== this.me && looks >= PATIENCE;
    });
  }

  /** @returns the sessions of all other processes, alive or not */
  async sessionsOfOthers(): Promise<string[]> {
    const others = await this.records.find({ _id: { $ne: this.me } }).toArray();
    return others.flatMap(({ sessions }) => sessions);
  }

  /** Removes the record of a dead process, unless it lives after all. */
  async forget({ _id, heartbeat }: Heartbeat): Promise<void> {
    await this.records.deleteOne({ _id, heartbeat });
  }

  /** Reads in a transaction, only for the session to have begun another one. */
  async readOwn(session: mongo.ClientSession): Promise<void> {
    await this.records.findOne({ _id: this.me }, { session });
  }

  /** Removes the record of this process, which has nothing open any more. */
  async end(): Promise<void> {
    await this.records.deleteOne({ _id: this.me });
  }
}
