/** Checks whether MongoDB is available, and reports outages. */
import mongoose, { type Connection, type mongo } from 'mongoose';
import { stateCollection } from './mongo';
import type { Outages } from './outages';

/** Whether the driver knows a primary. If the database is no replica set, any reachable server is enough. */
export function isMongoReady(connection: Connection): boolean {
  // Mongoose's `readyState` is unsuitable: one late heartbeat changes `readyState` to "disconnected".
  const { topology } = connection.getClient() as unknown as Driver;
  return topology !== undefined && isUsable(topology.description);
}

/** The driver's client; the driver's types omit `topology`. */
interface Driver {
  /** Undefined before the connection is opened and after it is closed. */
  readonly topology?: { readonly description: mongo.TopologyDescription };
}

function isUsable({ type, servers }: mongo.TopologyDescription): boolean {
  if (type.startsWith('ReplicaSet')) return type === 'ReplicaSetWithPrimary';
  // For a sharded cluster, `type` does not change in an outage.
  return [...servers.values()].some((server) => server.type !== 'Unknown');
}

const OUTAGE_SOURCE = 'driver';

export function reportMongoOutages(connection: Connection, outages: Outages): void {
  const client = connection.getClient();
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    // While this process closes the connection, the driver removes all servers.
    if (connection.readyState === mongoose.ConnectionStates.disconnecting) return;
    if (isUsable(newDescription)) outages.back('mongodb', OUTAGE_SOURCE);
    else outages.lost('mongodb', OUTAGE_SOURCE, causeOf(newDescription));
  });
}

function causeOf({ servers }: mongo.TopologyDescription): string {
  const errors = [...servers.values()].flatMap(({ error }) => error?.message ?? []);
  return errors[0] ?? 'no primary is known';
}

export async function pingMongo(connection: Connection): Promise<void> {
  await connection.getClient().db('admin').command({ ping: 1 });
}

/** Writes a document, because a server can answer reads but reject writes. @throws the driver's error */
export async function probeMongoWrite(connection: Connection): Promise<void> {
  const update = { $set: { at: new Date() } };
  const options = { upsert: true, maxTimeMS: 2_000, writeConcern: { w: 1 } };
  await stateCollection(connection).updateOne({ _id: 'write probe' }, update, options);
}
