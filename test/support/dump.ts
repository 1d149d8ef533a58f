/** A backup of a database by the driver: what `mongodump --oplog` saves, and `mongorestore --noIndexRestore` writes. */
import { mongo } from 'mongoose';

/** The documents of each collection. */
export type Dump = ReadonlyMap<string, readonly mongo.Document[]>;

async function withDatabaseOf<T>(
  url: string,
  work: (db: mongo.Db, client: mongo.MongoClient) => Promise<T>,
): Promise<T> {
  const client = await new mongo.MongoClient(url).connect();
  try {
    return await work(client.db(), client);
  } finally {
    await client.close();
  }
}

/** All collections as they were at one moment, with the exact BSON types. */
export const dump = (url: string): Promise<Dump> =>
  withDatabaseOf(url, async (db, client) => {
    const collections = await db.listCollections({ type: 'collection' }).toArray();
    const names = collections.map(({ name }) => name).filter((name) => !/^system\./.test(name));
    const saved = new Map<string, mongo.Document[]>();
    await client.withSession({ snapshot: true }, async (session) => {
      for (const name of names) {
        const exact = { session, promoteValues: false };
        saved.set(name, await db.collection(name).find({}, exact).toArray());
      }
    });
    return saved;
  });

/** Writes the documents into an empty database, without indexes. */
export const restore = (url: string, saved: Dump): Promise<void> =>
  withDatabaseOf(url, async (db) => {
    for (const [name, documents] of saved) {
      if (documents.length > 0) await db.collection(name).insertMany([...documents]);
    }
  });
