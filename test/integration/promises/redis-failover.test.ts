/**
 * Promise 5 where Redis fails over behind one address: the old primary lives on as a replica and keeps
 * its connections, so that nothing but its rejections tells the clients to leave.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { matterModel } from '../../../src/storage/ledger/matters';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import { type RunningServer, startRedis } from '../../../tools/local/servers';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-failover-'));
const OURS = 'test';
interface Node {
  readonly server: RunningServer;
  readonly redis: Redis;
}
let one: Node;
let other: Node;
let proxy: TcpProxy;
let service: Service;

async function startNode(name: string): Promise<Node> {
  const server = await startRedis({ dir: path.join(dir, name) });
  const redis = new Redis(server.url, { connectionName: OURS });
  redis.on('error', () => undefined);
  return { server, redis };
}
beforeAll(async () => {
  one = await startNode('one');
  other = await startNode('other');
  await follow(other, one);
  proxy = await startProxy(one.server.port, '127.0.0.1');
  service = await startService({
    redisUrl: `redis://127.0.0.1:${proxy.port}/0`,
    workers: 2,
    env: { PUSH_TIMEOUT: '8s' },
  });
});
afterAll(async () => {
  await service.stop();
  proxy.close();
  for (const { redis, server } of [one, other]) {
    redis.disconnect();
    await server.stop();
  }
  rmSync(dir, { recursive: true, force: true });
});

/** Resolves once the replica has all that the primary has. */
async function follow(replica: Node, primary: Node): Promise<void> {
  await replica.redis.replicaof('127.0.0.1', primary.server.port);
  await until('the replica to follow', async () =>
    (await replica.redis.info('replication')).includes('master_link_status:up'),
  );
}

/** What an operator's failover does, as seen behind the one address. */
async function failOver(from: Node, to: Node): Promise<void> {
  await to.redis.replicaof('NO', 'ONE');
  proxy.setTarget(to.server.port);
  await follow(from, to);
}

/** Connections of the service to a server: neither the tests' own nor those of its primary or replicas. */
async function connectionsTo({ redis }: Node): Promise<string[]> {
  const all = String(await redis.client('LIST'))
    .trim()
    .split('\n');
  return all.filter((line) => !line.includes(`name=${OURS} `) && !/flags=[MS]/.test(line));
}

const push = (externalId: string) => service.push('upsert', todo(externalId));
const ready = async () => (await fetch(`${service.urlOf()}/readyz`)).status;
const inLedger = (externalId: string) =>
  matterModel(service.db).countDocuments({ externalId }).exec();

/** Pushes one after the other, from each of a few callers, until it is stopped. */
function keepPushing(prefix: string) {
  const answers: { externalId: string; code: number }[] = [];
  let stop = false;
  const caller = async (number: number) => {
    for (let n = 0; !stop; n += 1) {
      const externalId = `${prefix}-${number}-${n}`;
      const { code } = await push(externalId);
      answers.push({ externalId, code });
    }
  };
  const done = Promise.all(Array.from({ length: 4 }, (_, number) => caller(number)));
  return {
    answers,
    stop: async () => {
      stop = true;
      await done;
    },
  };
}

test('pushes before, during and after a failover: each is answered, and they are accepted again', async () => {
  const load = keepPushing('OVER');
  await until('pushes before it', async () => load.answers.length > 40);
  await failOver(one, other);
  const at = load.answers.length;
  await until('pushes to be accepted again', async () =>
    load.answers.slice(at).some(({ code }) => code === 0),
  );
  await until('all partition jobs to be taken again', async () =>
    load.answers.slice(-40).every(({ code }) => code === 0),
  );
  await load.stop();
  for (const { externalId, code } of load.answers) {
    expect([0, 503, 504]).toContain(code);
    if (code !== 504) expect(await inLedger(externalId)).toBe(code === 0 ? 1 : 0);
  }
  await until('it to be ready', async () => (await ready()) === 200);
  // Twelve more, one after the other: none of them meets a connection that stayed behind.
  for (let n = 0; n < 12; n += 1) expect((await push(`AFTER-${n}`)).code).toBe(0);
});

test('whoever needs to write has left the replica, also a process without pushes', async () => {
  // One hears replies: the replica passes on what is published on its primary.
  await until('the others to leave', async () => {
    const left = await connectionsTo(one);
    return left.every((line) => / sub=1 /.test(line));
  });
});

test('who hears replies leaves a server that passes nothing on any more', async () => {
  await one.redis.replicaof('NO', 'ONE');
  await until('it to leave', async () => (await connectionsTo(one)).length === 0);
  await until('pushes to be accepted', async () => (await push('HEARD')).code === 0);
  await until('it to be ready', async () => (await ready()) === 200);
});

test('behind an address that still leads to a replica the process is not ready', async () => {
  await follow(one, other);
  await other.redis.replicaof('127.0.0.1', one.server.port);
  const rejected = await push('NOWHERE');
  expect(rejected).toMatchObject({ code: 503, reason: 'QUEUE_UNAVAILABLE', retryable: true });
  await until('it to say so', async () => (await ready()) === 503);
  await one.redis.replicaof('NO', 'ONE');
  proxy.setTarget(one.server.port);
  await until('pushes to be accepted', async () => (await push('BACK')).code === 0);
  await until('it to be ready', async () => (await ready()) === 200);
});

test('an old primary that has nobody to follow, and so rejects reads too, is left by all', async () => {
  await follow(other, one);
  await one.redis.config('SET', 'replica-serve-stale-data', 'no');
  await other.redis.replicaof('NO', 'ONE');
  proxy.setTarget(other.server.port);
  await one.redis.replicaof('127.0.0.1', 1);
  await until('pushes to be accepted', async () => (await push('LEFT')).code === 0);
  await until('all to leave', async () => (await connectionsTo(one)).length === 0);
});
