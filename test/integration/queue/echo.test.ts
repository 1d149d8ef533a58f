/** The echo: who hears what is published, and whose connection is made anew for it. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pino from 'pino';
import { connectSubscriber } from '../../../src/infra/redis/connect';
import { createEchoCheck } from '../../../src/queue/echo';
import { createRedisKeys } from '../../../src/queue/keys';
import { startProxy } from '../../../tools/harness/proxy';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
const silent = pino({ level: 'silent' });

test('a subscriber that comes back after an outage is left in peace', async () => {
  const url = new URL(testServers().redisUrl);
  const proxy = await startProxy(Number(url.port), url.hostname);
  const redis = new Redis(url.href);
  const witness = new Redis(url.href);
  url.host = `127.0.0.1:${proxy.port}`;
  const subscriber = connectSubscriber(url.href, silent);
  const heard = { witness: 0, subscriber: 0 };
  witness.on('message', () => {
    heard.witness += 1;
  });
  subscriber.on('message', () => {
    heard.subscriber += 1;
  });
  const channel = keys.replies('ingress');
  await Promise.all([witness, subscriber].map((one) => one.subscribe(channel)));
  const warned: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void warned.push(line) });
  const echo = createEchoCheck({
    redis,
    subscriber,
    keys,
    channel: keys.replies('ingress'),
    logger,
  });
  try {
    await until('an echo', async () => heard.subscriber > 0);
    proxy.close();
    const before = heard.witness;
    await until('calls that it cannot hear', async () => heard.witness > before + 3);
    await proxy.open();
    const back = heard.subscriber;
    await until('echoes again', async () => heard.subscriber > back + 1);
    expect(warned).toEqual([]);
  } finally {
    await echo.stop();
    for (const connection of [redis, witness, subscriber]) connection.disconnect();
    proxy.close();
  }
});
