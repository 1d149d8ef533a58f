/**
 * Connections that a network has forgotten: no end is told, nothing comes through any more. Whoever
 * waits on one has to find out by itself, and go on with a new one.
 */

import { createLogger } from '../../../src/infra/logger';
import {
  connectBlocking,
  connectFailFast,
  connectSubscriber,
} from '../../../src/infra/redis/connect';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

const logger = createLogger('test', 'silent');
const releasers: (() => unknown)[] = [];
afterEach(async () => {
  for (const release of releasers.splice(0).reverse()) await release();
});

/** @returns the way to a server, and its address by that way */
async function by(address: string): Promise<{ proxy: TcpProxy; url: string }> {
  const url = new URL(address);
  const proxy = await startProxy(Number(url.port), url.hostname);
  releasers.push(() => proxy.close());
  url.host = `127.0.0.1:${proxy.port}`;
  return { proxy, url: url.href };
}

test('a connection for commands and one that blocks are made anew', async () => {
  const { proxy, url } = await by(testServers().redisUrl);
  const commands = connectFailFast(url, logger);
  const blocking = connectBlocking(url, logger);
  releasers.push(
    () => commands.disconnect(),
    () => blocking.disconnect(),
  );
  await until('both', async () => commands.status === 'ready' && blocking.status === 'ready');
  proxy.strand();
  // What blocks is never told of a failure: the question is asked again on the new connection.
  expect(await blocking.ping()).toBe('PONG');
  await until('an answer', async () => (await commands.ping().catch(() => undefined)) === 'PONG');
});

test('a subscriber is, though nobody asks it anything, and hears what is published then', async () => {
  const { proxy, url } = await by(testServers().redisUrl);
  const subscriber = connectSubscriber(url, logger);
  const publisher = connectFailFast(testServers().redisUrl, logger);
  releasers.push(
    () => subscriber.disconnect(),
    () => publisher.disconnect(),
  );
  const channel = `stranded-${proxy.port}`;
  const heard: string[] = [];
  subscriber.on('message', (_, text) => heard.push(text));
  await subscriber.subscribe(channel);
  proxy.strand();
  await until('a message', async () => {
    await publisher.publish(channel, 'hello');
    return heard.length > 0;
  });
});

describe('a whole service', () => {
  let service: Service;
  let redis: TcpProxy;
  let mongo: TcpProxy;

  beforeAll(async () => {
    const servers = testServers();
    const ways = { redis: await by(servers.redisUrl), mongo: await by(servers.mongoUrl) };
    redis = ways.redis.proxy;
    mongo = ways.mongo.proxy;
    // The proxies outlive a test, and end after the service.
    const kept = releasers.splice(0);
    service = await startService({ redisUrl: ways.redis.url, mongoUrl: ways.mongo.url });
    ends.push(() => service.stop(), ...kept);
  });
  const ends: (() => unknown)[] = [];
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test.each([
    ['to Redis', () => redis.strand()],
    ['to the database', () => mongo.strand()],
  ])('goes on by itself when its connections %s are', async (what, strand) => {
    let tries = 0;
    const body = { matterType: 'NOTICE', externalId: what, title: what };
    const pushed = async () => {
      tries += 1;
      const answer = await service.push('upsert', { ...body, externalId: `${what} ${tries}` });
      return answer.code === 0;
    };
    // Connections of the other kind may still be on their way back.
    await until('a first push', pushed);
    strand();
    await until('a push that is confirmed', pushed);
  });
});
