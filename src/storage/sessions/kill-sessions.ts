/**
 * Ending the transactions that sessions have open, whoever they belong to. Not every server lets one
 * (Atlas M0 and Flex do not), so nothing may rest on it: the guards keep what is written right, and
 * the server itself gives an open transaction up after `transactionLifetimeLimitSeconds`.
 */
import { mongo } from 'mongoose';
import type { Logger } from '../../runtime/logger';
import { isRejectedForGood } from '../driver-errors';

/**
 * @param ids of sessions, hex
 * @returns false where the server rejects
 * @throws the driver's error where the server is away, or could not do it now: it may later
 */
export type KillSessions = (ids: readonly string[]) => Promise<boolean>;

export function createKillSessions(client: mongo.MongoClient, logger: Logger): KillSessions {
  let isTold = false;
  return async (ids) => {
    if (ids.length === 0) return true;
    const wanted = ids.map((id) => ({ id: new mongo.UUID(Buffer.from(id, 'hex')) }));
    try {
      await client.db('admin').command({ killSessions: wanted });
      return true;
    } catch (error) {
      if (!isRejectedForGood(error)) throw error;
      if (!isTold) logger.warn({ error: String(error) }, REFUSED);
      isTold = true;
      return false;
    }
  };
}

const REFUSED =
  'the server rejects killSessions: what a worker leaves open when it dies waits for transactionLifetimeLimitSeconds';
