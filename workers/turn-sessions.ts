/**
 * The database sessions in which turns commit, one per lane. Their ids stand in Redis while a turn
 * works: should its process die between its first write and its commit, the server would keep the
 * transaction, and with it the matters, locked for a minute. Whoever takes the lane over ends it.
 */
import { type Connection, mongo } from 'mongoose';
import type { Logger } from '../src/logger';
import { inTransaction } from '../src/mongo';

export interface TurnSessions {
  /** The id of the lane's session, hex: the holder that `lanes.read` records. */
  holderOf(lane: number): string;
  /** Runs writes in one transaction of the lane's session. Turns of a lane never overlap here. */
  commit<T>(lane: number, work: (session: mongo.ClientSession) => Promise<T>): Promise<T>;
  /** Ends whatever transactions displaced holders still have open. */
  fence(holders: readonly string[]): Promise<void>;
  end(): Promise<void>;
}

export function createTurnSessions(connection: Connection, logger: Logger): TurnSessions {
  const client = connection.getClient();
  const sessions = new Map<number, mongo.ClientSession>();
  const sessionOf = (lane: number) => {
    const session = sessions.get(lane) ?? client.startSession();
    sessions.set(lane, session);
    return session;
  };
  return {
    holderOf: (lane) => sessionOf(lane).id?.id.toString('hex') ?? '',
    commit: (lane, work) => inTransaction(sessionOf(lane), work),
    fence: async (holders) => {
      logger.warn({ holders }, 'ending the transactions of turns that never finished');
      const ids = holders.map((holder) => ({ id: new mongo.UUID(Buffer.from(holder, 'hex')) }));
      await client.db('admin').command({ killSessions: ids });
    },
    end: async () => {
      await Promise.all([...sessions.values()].map((session) => session.endSession()));
    },
  };
}
