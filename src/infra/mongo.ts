/** Connects to the database, and defines the write concerns. */
import mongoose, { type Connection, type Model, type mongo } from 'mongoose';
import { failCommandsOnClosedSockets } from './closed-sockets';
import { isExistingCollection } from './driver-errors';
import { hasOption, withoutOptionsOfService } from './mongo-url';

/** `web` answers code 0 only after a majority of the replica set has journaled the write (contract 6.1). */
export const MAJORITY_WRITE_CONCERN = { w: 'majority', journal: true } as const;
/** Only for documents that a later write with MAJORITY_WRITE_CONCERN updates. The update confirms both writes. */
export const PRIMARY_WRITE_CONCERN = { w: 1, journal: false } as const;

/** The database cannot be used. */
export class DatabaseSetupError extends Error {
  override readonly name = 'DatabaseSetupError';
}

/** MONGO_URL can override these defaults. */
const TIMEOUTS = { serverSelectionTimeoutMS: 2_000, connectTimeoutMS: 5_000 };

const timeoutsOf = (url: string): Partial<typeof TIMEOUTS> =>
  Object.fromEntries(Object.entries(TIMEOUTS).filter(([name]) => !hasOption(url, name)));

/**
 * @param socketTimeout maximum milliseconds for one command
 * @throws DatabaseSetupError if MongoDB is unreachable, or is a standalone server without transactions
 */
export async function connectMongo(
  url: string,
  socketTimeout = 15_000,
  monitorCommands = false,
): Promise<Connection> {
  failCommandsOnClosedSockets();
  const connection = mongoose.createConnection(withoutOptionsOfService(url), {
    useBigInt64: true,
    // MongoDB can cut an error message within a character. With validation, the driver then loses the error code.
    enableUtf8Validation: false,
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    ...timeoutsOf(url),
    heartbeatFrequencyMS: 500,
    // Works around a defect of driver 7.8: with `useBigInt64`, mode 'stream' throws an uncatchable error.
    serverMonitoringMode: 'poll',
    socketTimeoutMS: socketTimeout,
    waitQueueTimeoutMS: 5_000,
    writeConcern: MAJORITY_WRITE_CONCERN,
    monitorCommands,
  });
  try {
    await connection.asPromise();
    const hello = await connection.getClient().db('admin').command({ hello: 1 });
    if (hello.setName === undefined && hello.msg !== 'isdbgrid') {
      throw new Error(
        'transactions need a replica set, but the server is standalone: start the server with --replSet',
      );
    }
    return connection;
  } catch (cause) {
    await connection.close().catch(() => undefined);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DatabaseSetupError(`MONGO_URL cannot be used: ${why}`, { cause });
  }
}

/** Identifies the database by the UUID of the state collection. A restored dump has a new UUID. */
export async function identifyDatabase(
  connection: Connection,
): Promise<{ readonly id: string; readonly name: string }> {
  const { collectionName: collection } = stateCollection(connection);
  const database = connection.getClient().db(connection.name);
  const find = async () => {
    const named = { name: collection };
    const [found] = await database.listCollections<mongo.CollectionInfo>(named).toArray();
    return found?.info?.uuid;
  };
  let uuid = await find();
  if (!uuid) {
    await database.createCollection(collection).catch((error) => {
      if (!isExistingCollection(error)) throw error;
    });
    uuid = await find();
  }
  const hosts = connection.getClient().options.hosts.map(String).join(',');
  return { id: String(uuid?.toString('hex')), name: `${hosts}/${connection.name}` };
}

/** Bypasses the casts and the validation of Mongoose. */
export function nativeCollection<T extends { _id: unknown }>(model: Model<T>): mongo.Collection<T> {
  return model.db.collection<T>(model.collection.name);
}

/** Shared state of all processes. `_id` names the purpose of a document, for example `write probe`. */
export function stateCollection<T extends { _id: string }>(
  connection: Connection,
): mongo.Collection<T> {
  return connection.collection<T>('service_state');
}
