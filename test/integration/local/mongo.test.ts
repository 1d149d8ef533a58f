/** The embedded database keeps what it confirmed, and ends soon what nobody ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { type RunningServer, startMongo } from '../../../tools/local/servers';

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

test('what a transaction confirmed outlives a SIGKILL', async () => {
  server = await startMongo({ dir });
  await withClient(async (client) => {
    const numbers = client.db().collection<{ _id: number }>('numbers');
    await numbers.insertOne({ _id: -1 });
    for (let n = 0; n < WRITES; n += 1) {
      await client.withSession((session) =>
        session.withTransaction(() => numbers.insertOne({ _id: n }, { session })),
      );
    }
  });
  server.kill('SIGKILL');
  await server.exited;
  server = await startMongo({ dir, port: server.port });
  const count = await withClient((client) => client.db().collection('numbers').find({}).toArray());
  expect(count).toHaveLength(WRITES + 1);
});

test('it has bounds that suit a machine with other things to do', async () => {
  const { parsed, transactionLifetime } = await withClient(async (client) => {
    const admin = client.db('admin');
    const { parsed } = await admin.command({ getCmdLineOpts: 1 });
    const wanted = { getParameter: 1, transactionLifetimeLimitSeconds: 1 };
    const { transactionLifetimeLimitSeconds } = await admin.command(wanted);
    return { parsed, transactionLifetime: transactionLifetimeLimitSeconds };
  });
  expect(transactionLifetime).toBe(5);
  expect(parsed.net.bindIp).toBe('127.0.0.1');
  expect(parsed.storage.wiredTiger.engineConfig.cacheSizeGB).toBeLessThan(1);
});
