/** The embedded database keeps what it confirmed, and does no work that nobody wants. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { chosenProgram } from '../../src/embedded/project';
import { type RunningServer, startMongo } from '../../src/embedded/servers';

const dir = mkdtempSync(join(tmpdir(), 'matter-push-embedded-'));
let server: RunningServer;
afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function withClient<T>(work: (client: mongo.MongoClient) => Promise<T>): Promise<T> {
  const client = new mongo.MongoClient(server.url);
  return work(client).finally(() => client.close(true));
}

const WRITES = 300;

test('what a transaction confirmed outlives a SIGKILL, without an oplog', async () => {
  server = await startMongo({ dir });
  await withClient(async (client) => {
    const numbers = client.db().collection<{ _id: number }>('numbers');
    await numbers.insertOne({ _id: -1 });
    for (let n = 0; n < WRITES; n += 1) {
      await client.withSession((session) =>
        session.withTransaction(() => numbers.insertOne({ _id: n }, { session })),
      );
    }
    if (chosenProgram('mongo').flavour !== 'mongod') {
      expect(await client.db('local').collection('oplog.rs').find({}).toArray()).toEqual([]);
    }
  });
  server.kill('SIGKILL');
  await server.exited;
  server = await startMongo({ dir, port: server.port });
  const count = await withClient((client) => client.db().collection('numbers').find({}).toArray());
  expect(count).toHaveLength(WRITES + 1);
}, 60_000);
