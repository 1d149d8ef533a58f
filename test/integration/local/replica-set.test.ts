/** Three servers as one replica set: what a test of failovers stands on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import { type ReplicaSet, startReplicaSet } from '../../../tools/local/servers';

const dir = mkdtempSync(join(tmpdir(), 'matter-push-replica-set-'));
const proxies: TcpProxy[] = [];
let set: ReplicaSet | undefined;
afterAll(async () => {
  await set?.stop();
  for (const proxy of proxies) proxy.close();
  rmSync(dir, { recursive: true, force: true });
});

async function proxied(port: number): Promise<string> {
  const proxy = await startProxy(port, '127.0.0.1');
  proxies.push(proxy);
  return `127.0.0.1:${proxy.port}`;
}

test('a killed primary is followed by another one, behind proxies too, and comes back', async () => {
  set = await startReplicaSet({ dir, members: 3, address: proxied });
  expect(set.members).toHaveLength(3);
  const client = new mongo.MongoClient(set.url);
  const numbers = client.db().collection<{ _id: number }>('numbers');
  await numbers.insertOne({ _id: 1 }, { writeConcern: { w: 'majority', j: true } });

  const first = await set.primary();
  const place = set.members.indexOf(first);
  first.kill('SIGKILL');
  await first.exited;
  const second = await set.primary();
  expect(second.port).not.toBe(first.port);
  await numbers.insertOne({ _id: 2 }, { writeConcern: { w: 'majority', j: true } });

  const again = await set.restart(place);
  expect(set.members[place]).toBe(again);
  expect(again.port).toBe(first.port);
  expect((await numbers.find().toArray()).map(({ _id }) => _id)).toEqual([1, 2]);
  await client.close(true);
});
