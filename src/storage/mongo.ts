/** The connection to the ledger's database and how writes on it are made sure. */
import { types } from 'node:util';
import mongoose, { type Connection, type Model, type mongo } from 'mongoose';
import { withoutOverrides } from '../runtime/mongo-url';

/** Code 0 only after the database confirmed by majority and journal (decisions, "Success"). */
export const CONFIRMED = { w: 'majority', journal: true } as const;

/** Names a failed start with the way out; start-up ends at once with it. */
export class DatabaseSetupError extends Error {
  override readonly name = 'DatabaseSetupError';
}

/**
 * Connects, and makes sure that the server has transactions: one effect per push rests on matter
 * and push-log entry being committed together. Reads go to the primary, writes wait for majority and
 * journal, whatever the URL says.
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
  const connection = mongoose.createConnection(withoutOverrides(url), {
    useBigInt64: true,
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    serverSelectionTimeoutMS: 2_000,
    heartbeatFrequencyMS: 500,
    // The server's own word of a change ('stream') would be sooner. But where a command hears of it
    // first, its answer's counter is a BigInt (useBigInt64), over which the stream's driver throws,
    // outside of any call: the process ends, or never finds a primary again (driver 7.8).
    serverMonitoringMode: 'poll',
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

/**
 * Whether the same write may succeed a moment later: the server could not be reached, or changed its
 * place, or had something else to do with what was to be written (a conflict, an index build). Whether
 * the write took effect all the same is open.
 */
export function isTransient(error: unknown): boolean {
  if (isSocketError(error)) return true;
  if (!(error instanceof mongoose.mongo.MongoError)) return false;
  if (TRANSIENT.has(Number(error.code))) return true;
  return (
    error instanceof mongoose.mongo.MongoNetworkError ||
    error instanceof mongoose.mongo.MongoServerSelectionError ||
    error.name === 'MongoWaitQueueTimeoutError' ||
    // The driver puts a connection that broke in a bulk write into this one; a server's word has a code.
    (error instanceof mongoose.mongo.MongoBulkWriteError && typeof error.code !== 'number') ||
    error.hasErrorLabel('RetryableWriteError')
  );
}

/**
 * The server's codes (its list error_codes.yml) for what has no one to do it now: it is no primary (any
 * more, or yet), on its way there or to its end, or cannot reach another member or shard. On a read the
 * driver gives these no label.
 */
export const AWAY: ReadonlySet<number> = new Set([
  ...[6, 7, 89, 202, 9001], // the network between members, and from mongos to a shard
  133, // FailedToSatisfyReadPreference: mongos finds no primary of a shard
  262, // ExceededTimeLimit
  ...[91, 11600, 11602], // ending, or interrupted by a change of its place
  ...[134, 189, 10107, 13435, 13436], // its place in the set, and what the majority has
]);

/** Those for what passes. */
const TRANSIENT: ReadonlySet<number> = new Set([
  ...AWAY,
  ...[24, 46, 112, 117, 276, 314], // locks, conflicts, index builds
  50, // took too long
  ...[64, 79, 100, 10058], // confirmation
  11601, // interrupted
]);

/** Whether the driver knows a primary right now: lets callers be rejected at once, not after a wait. */
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
 *
 * @param session of the caller's, which may be used again afterwards
 */
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

/** What the processes have to remember together: one document, by name, for each such thing. */
export function stateCollection<T extends { _id: string }>(
  connection: Connection,
): mongo.Collection<T> {
  return connection.collection<T>('service_state');
}

function adminOf(connection: Connection) {
  return connection.getClient().db('admin');
}
