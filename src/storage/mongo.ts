/** The connection to the ledger's database and how writes on it are made sure. */
import mongoose, { type Connection, type Model, type mongo } from 'mongoose';
import { namesOption, withoutOverrides } from '../runtime/mongo-url';
import { isExistingCollection } from './driver-errors';

/** Code 0 only after the database confirmed by majority and journal (decisions, "Success"). */
export const CONFIRMED = { w: 'majority', journal: true } as const;

/** Names a failed start with the way out; start-up ends at once with it. */
export class DatabaseSetupError extends Error {
  override readonly name = 'DatabaseSetupError';
}

/** Milliseconds to find a primary, and for a server to answer a connection or a heartbeat. The URL may name others. */
const LIMITS = { serverSelectionTimeoutMS: 2_000, connectTimeoutMS: 5_000 };

const limitsOf = (url: string): Partial<typeof LIMITS> =>
  Object.fromEntries(Object.entries(LIMITS).filter(([name]) => !namesOption(url, name)));

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
    // The server cuts long values in its error messages, also inside a character. With validation the
    // driver fails over the message and hides the server's code and cause.
    enableUtf8Validation: false,
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    ...limitsOf(url),
    heartbeatFrequencyMS: 500,
    // The server's own word of a change ('stream') would be sooner. But where a command hears of it
    // first, its answer's counter is a BigInt (useBigInt64), over which the stream's driver throws,
    // outside of any call: the process ends, or never finds a primary again (driver 7.8).
    serverMonitoringMode: 'poll',
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

/** Whether the driver knows a primary right now: lets callers be rejected at once, not after a wait. */
export function isMongoReady(connection: Connection): boolean {
  // mongoose's `readyState` says "disconnected" as soon as a heartbeat is a second late, which it is on a busy machine.
  const { topology } = connection.getClient() as unknown as Driver;
  return topology !== undefined && isUsable(topology.description);
}

/** What the driver's types leave out. */
interface Driver {
  /** Undefined once the connection was closed. */
  readonly topology?: { readonly description: mongo.TopologyDescription };
}

/** Whether the driver knows a server that may take writes. */
export function isUsable({ type, servers }: mongo.TopologyDescription): boolean {
  if (type.startsWith('ReplicaSet')) return type === 'ReplicaSetWithPrimary';
  // One address, or some of mongos: they keep their type also while none answers.
  return [...servers.values()].some((server) => server.type !== 'Unknown');
}

/** A round trip to the primary that takes no lock and reads nothing: a busy database answers it soon, too. */
export async function pingMongo(connection: Connection): Promise<void> {
  await adminOf(connection).command({ ping: 1 });
}

/**
 * Writes something small, for readiness: a server that answers reads may reject all writes (a quota, a right,
 * setUserWriteBlockMode). The majority is not waited for: while it is late, pushes wait and are confirmed.
 *
 * @throws the driver's error
 */
export async function probeMongoWrite(connection: Connection): Promise<void> {
  const at = { $set: { at: new Date() } };
  const options = { upsert: true, maxTimeMS: 2_000, writeConcern: { w: 1 } };
  await stateCollection(connection).updateOne({ _id: 'write probe' }, at, options);
}

/**
 * The identity of the database. The server gives each collection an id of its own, so it is the same by every
 * URL of the database, and another one in a copy that was restored elsewhere.
 */
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
