/** A worker that alone cannot reach the database leaves its partitions to the others until it can again. */
import { Redis } from 'ioredis';
import { createRedisKeys } from '../../../src/queue/keys';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

const redis = new Redis(testServers().redisUrl);
afterAll(() => redis.disconnect());

let service: Service;
let proxy: TcpProxy;
let isOver: boolean;
let callers: Promise<void>[];
let written: number;
beforeEach(async () => {
  [isOver, callers, written] = [false, [], 0];
  service = await startService({ workers: 0 });
  const { port, hostname } = new URL(String(service.env.MONGO_URL));
  proxy = await startProxy(Number(port), hostname);
}, 60_000);
afterEach(async () => {
  isOver = true;
  await proxy.setRefusing(false);
  await Promise.all(callers);
  await service.stop();
  proxy.close();
}, 60_000);

/** Its way to the database goes through the proxy. */
function proxied(): Record<string, string> {
  const url = new URL(String(service.env.MONGO_URL));
  url.port = String(proxy.port);
  url.search = '?directConnection=true';
  return { MONGO_URL: url.href };
}

const keys = () => createRedisKeys(String(service.env.REDIS_NAMESPACE));
/** By worker that takes partitions, how many it holds. */
const working = () => redis.hgetall(keys().workers);
const areEven = async () => {
  const counts = Object.values(await working()).map(Number);
  return counts.length === 2 && Math.min(...counts) >= Math.max(1, 0.5 * Math.max(...counts));
};

function startCallers(): void {
  const caller = async (externalId: string) => {
    for (let n = 1; !isOver; n += 1) {
      const matter = { matterType: 'TODO', externalId, title: `t${n}` };
      const { code } = await service.push('upsert', matter);
      if (code === 0) written += 1;
    }
  };
  callers = Array.from({ length: 16 }, (_, n) => caller(`K-${n}`));
}
const moreWritten = async () => {
  const before = written;
  await until('more pushes to be written', async () => written >= before + 300, 240_000);
};

/** What may be on the way to the database. */
const CUTS: readonly [string, (on: boolean) => unknown][] = [
  ['nothing is forwarded', (on) => proxy.setDropping(on)],
  ['connections are refused', (on) => proxy.setRefusing(on)],
];

test.each(CUTS)(
  'where %s, other workers take its partitions',
  async (_what, cut) => {
    await service.startWorker();
    const others = Object.keys(
      await until('the first worker', async () => {
        const found = await working();
        return Object.keys(found).length === 1 && found;
      }),
    );
    await service.startWorker(proxied());
    startCallers();
    await until('both to have about the same', areEven, 120_000);
    await cut(true);
    await until('one to be left', async () => Object.keys(await working()).length === 1, 60_000);
    expect(Object.keys(await working())).toEqual(others);
    const owners = async () => Object.values(await redis.hgetall(keys().owners(0)));
    await until('all partitions to be those of the other one', async () =>
      (await owners()).every((owner) => owner.startsWith(String(others[0]))),
    );
    await moreWritten();
    expect(Object.keys(await working())).toEqual(others);
    await cut(false);
    await until('both to have about the same again', areEven, 120_000);
    await moreWritten();
  },
  900_000,
);

test('where no worker reaches the database, all of them go on as soon as they do', async () => {
  await Promise.all([service.startWorker(proxied()), service.startWorker(proxied())]);
  startCallers();
  await until('both to have about the same', areEven, 120_000);
  proxy.setDropping(true);
  const reach = async () => Object.keys(await redis.hgetall(keys().workerReach));
  await until('both to have asked for another one', async () => (await reach()).length === 0);
  expect(Object.keys(await working())).toHaveLength(2);
  proxy.setDropping(false);
  await until('both to reach it', async () => (await reach()).length === 2, 60_000);
  await moreWritten();
  expect(Object.keys(await working())).toHaveLength(2);
}, 400_000);
