/** Checks whether MongoDB is available, and reports its outages. */
import mongoose, { type Connection, type mongo } from 'mongoose';
import { stateCollection } from './mongo';
import type { Outages } from './outages';

/** Whether the driver knows a server that accepts writes. If not, `web` rejects requests immediately. */
export function isMongoReady(connection: Connection): boolean {
  // Mongoose's `readyState` is unsuitable: on a busy machine a heartbeat of the driver can be a second late, and
  // `readyState` then is "disconnected".
  const { topology } = connection.getClient() as unknown as Driver;
  return topology !== undefined && isUsable(topology.description);
}

/** The driver's client, with the member `topology`, which the type declarations of the driver do not contain. */
interface Driver {
  /** Undefined after the connection was closed. */
  readonly topology?: { readonly description: mongo.TopologyDescription };
}

function isUsable({ type, servers }: mongo.TopologyDescription): boolean {
  if (type.startsWith('ReplicaSet')) return type === 'ReplicaSetWithPrimary';
  // With `mongos`, the type of the topology never changes. So the types of the servers show whether a server is usable.
  return [...servers.values()].some((server) => server.type !== 'Unknown');
}

/** The name of the connection in the log lines of an outage. */
const OUTAGE_SOURCE = 'driver';

/**
 * Reports outages to `outages` until the connection is closed. An outage lasts while the driver knows no usable server.
 */
export function watchMongo(connection: Connection, outages: Outages): void {
  const client = connection.getClient();
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    // When this process closes the connection, the driver removes all servers, which is no outage.
    if (connection.readyState === mongoose.ConnectionStates.disconnecting) return;
    if (isUsable(newDescription)) outages.back('mongodb', OUTAGE_SOURCE);
    else outages.lost('mongodb', OUTAGE_SOURCE, causeOf(newDescription));
  });
}

function causeOf({ servers }: mongo.TopologyDescription): string {
  const errors = [...servers.values()].flatMap(({ error }) => error?.message ?? []);
  return errors[0] ?? 'no primary is known';
}

/** Sends a ping to the primary. A ping needs no locks and no data, so even a busy database answers quickly. */
export async function pingMongo(connection: Connection): Promise<void> {
  await connection.getClient().db('admin').command({ ping: 1 });
}

/**
 * Writes a small document for the readiness check, because a server that answers reads can reject all writes (quota,
 * missing permission, `setUserWriteBlockMode`). The write does not wait for the majority, because a slow majority only
 * delays pushes and must not make the check fail.
 *
 * @throws the driver's error
 */
export async function probeMongoWrite(connection: Connection): Promise<void> {
  const update = { $set: { at: new Date() } };
  const options = { upsert: true, maxTimeMS: 2_000, writeConcern: { w: 1 } };
  await stateCollection(connection).updateOne({ _id: 'write probe' }, update, options);
}
