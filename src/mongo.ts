/** The connection to the ledger's database and how writes on it are made sure. */
import { types } from 'node:util';
import mongoose, { type Connection, type Model, type mongo } from 'mongoose';

/** Code 0 only after the database confirmed by majority and journal (decisions, "Success"). */
export const CONFIRMED = { w: 'majority', journal: true } as const;

/** Names a failed start with the way out; start-up ends at once with it. */
export class DatabaseSetupError extends Error {
  override readonly name = 'DatabaseSetupError';
}

/**
 * Connects, and makes sure that the server has transactions: one effect per push rests on matter
 * and push-log entry being committed together.
 *
 * @param socketTimeout milliseconds for one command; longer where indexes of large collections are made
 * @param monitorCommands whether the driver tells of each command
 * @throws DatabaseSetupError where the server cannot be reached or is a standalone
 */
export async function connectMongo(
  url: string,
  socketTimeout = 15_000,
  monitorCommands = false,
): Promise<Connection> {
  const connection = mongoose.createConnection(url, {
    useBigInt64: true,
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    serverSelectionTimeoutMS: 2_000,
    heartbeatFrequencyMS: 1_000,
    connectTimeoutMS: 5_000,
    socketTimeoutMS: socketTimeout,
    waitQueueTimeoutMS: 5_000,
    writeConcern: CONFIRMED,
    monitorCommands,
  });
  try {
    await connection.asPromise();
    const hello = await adminOf(connection).command({ hello: 1 });
    if (hello.setName === undefined && hello.msg !== 'isdbgrid') {
      throw new Error('it is a standalone; transactions need a replica set: run it with --replSet');
    }
    return connection;
  } catch (cause) {
    await connection.close().catch(() => undefined);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DatabaseSetupError(`MONGO_URL cannot be used: ${why}`, { cause });
  }
}

/**
 * Whether an error is a socket's own: the driver hands it on as it is, without a class or label of
 * its own, where a connection breaks while a command is still being written.
 */
export function isSocketError(error: unknown): boolean {
  // By its nature, not its class: it may come from another realm, as under jest.
  return types.isNativeError(error) && 'syscall' in error;
}

/** Whether the driver knows a primary right now: lets callers be refused at once, not after a wait. */
export function isMongoReady(connection: Connection): boolean {
  return connection.readyState === mongoose.ConnectionStates.connected;
}

/** A round trip to the database, for readiness. */
export async function pingMongo(connection: Connection): Promise<void> {
  await adminOf(connection).command({ ping: 1, maxTimeMS: 2_000 });
}

/**
 * Runs `work` in one transaction: everything in it is confirmed by one journal sync, or none is.
 * Nothing is retried here; a caller knows better what has to be read again.
 */
export async function commitTogether<T>(
  connection: Connection,
  work: (session: mongo.ClientSession) => Promise<T>,
): Promise<T> {
  const session = connection.getClient().startSession();
  try {
    return await inTransaction(session, work);
  } finally {
    await session.endSession();
  }
}

/** The same in a session of the caller's, which may be used again afterwards. */
export async function inTransaction<T>(
  session: mongo.ClientSession,
  work: (session: mongo.ClientSession) => Promise<T>,
): Promise<T> {
  // Outside: one that is open already is somebody else's, and not to be aborted here.
  session.startTransaction({ writeConcern: CONFIRMED });
  try {
    const result = await work(session);
    await session.commitTransaction().catch(asDriverError);
    return result;
  } catch (error) {
    if (session.inTransaction()) await session.abortTransaction();
    throw error;
  }
}

/**
 * Where a connection breaks while a commit is still being written, the driver fails over its own error
 * handling (a TypeError): what it is about is a commit whose outcome nobody knows.
 */
function asDriverError(error: unknown): never {
  if (error instanceof mongoose.mongo.MongoError) throw error;
  throw new mongoose.mongo.MongoNetworkError('the connection broke in a commit', {
    cause: error instanceof Error ? error : new Error(String(error)),
  });
}

/**
 * The driver's own collection behind a model, for the hot path: documents that the domain has made
 * need no casting, and nothing is read that would need hydrating.
 */
export function nativeCollection<T extends { _id: unknown }>(model: Model<T>): mongo.Collection<T> {
  return model.db.collection<T>(model.collection.name);
}

function adminOf(connection: Connection) {
  return connection.getClient().db('admin');
}
