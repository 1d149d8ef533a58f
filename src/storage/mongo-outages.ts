/** Tells the outages of MongoDB: the time in which its driver knows no primary, and no mongos. */
import mongoose, { type Connection, type mongo } from 'mongoose';
import type { Outages } from '../runtime/outages';
import { isUsable } from './mongo';

const CONNECTION = 'driver';

/** Watches a connection until it is closed. */
export function watchMongo(connection: Connection, outages: Outages): void {
  const client = connection.getClient();
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    // Its end makes the driver forget all servers, which is no outage.
    if (connection.readyState === mongoose.ConnectionStates.disconnecting) return;
    if (isUsable(newDescription)) outages.back('mongodb', CONNECTION);
    else outages.lost('mongodb', CONNECTION, whyNot(newDescription));
  });
}

function whyNot({ servers }: mongo.TopologyDescription): string {
  const errors = [...servers.values()].flatMap(({ error }) => error?.message ?? []);
  return errors[0] ?? 'no primary is known';
}
