/** Reads the bodies of logged pushes, as long as they are kept. */
import { type Connection, type mongo, Types } from 'mongoose';
import { nativeCollection } from '../mongo';
import { bodyModel, type LoggedBody } from './body-model';

export interface Bodies {
  /** By request id; bodies that are not stored (any more) are left out. */
  find(ids: readonly string[]): Promise<Map<string, Buffer>>;
}

/** Milliseconds for one read. */
const TIMEOUT = 10_000;

export function createBodies(connection: Connection): Bodies {
  const collection = nativeCollection<LoggedBody>(bodyModel(connection));
  return {
    find: async (ids) => {
      if (ids.length === 0) return new Map();
      const found = await collection
        .find({ _id: { $in: ids.map((id) => new Types.ObjectId(id)) } }, { maxTimeMS: TIMEOUT })
        .project<{ _id: Types.ObjectId; body: Buffer | mongo.Binary }>({ body: 1 })
        .toArray();
      return new Map(found.map(({ _id, body }) => [String(_id), bytesOf(body)]));
    },
  };
}

/** The driver gives its own type for binary data. */
const bytesOf = (body: Buffer | mongo.Binary) =>
  Buffer.isBuffer(body) ? body : Buffer.from(body.buffer);
