/** A database of its own for a test file: empty, without indexes. */
import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import { connectMongo } from '../../src/infra/mongo';
import { testServers, withDatabase, withPatience } from './service';

/** @param monitored tells of its commands (`db.getClient().on('commandStarted', …)`) */
export function newDatabase(monitored = false): Promise<Connection> {
  const name = `t-${randomBytes(5).toString('hex')}`;
  const url = withPatience(withDatabase(testServers().mongoUrl, name));
  return connectMongo(url, undefined, monitored);
}

export async function dropDatabase(db: Connection): Promise<void> {
  await db.dropDatabase();
  await db.close();
}
