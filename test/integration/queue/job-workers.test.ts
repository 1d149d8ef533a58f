/** How a worker waits for partition jobs. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pino from 'pino';
import { JobWorkers } from '../../../src/queue/jobs';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../../src/queue/keys';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

interface Wait {
  readonly seconds: string;
  readonly source: string;
}

test('a wait that failed, as in a failover, is followed by one that is no longer', async () => {
  const { redisUrl } = testServers();
  const redis = new Redis(redisUrl);
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
  const marker = `${keys.bullPrefix(0)}:${PARTITION_JOB_QUEUE}:marker`;
  const waits: Wait[] = [];
  const monitor = await redis.monitor();
  monitor.on('monitor', (_time: string, [command, key, seconds]: string[], source: string) => {
    if (command === 'bzpopmin' && key === marker) waits.push({ seconds: String(seconds), source });
  });
  const logger = pino({ level: 'silent' });
  const worker = new JobWorkers({ connection, keys, logger }, async () => undefined);
  try {
    await until('a wait', async () => waits.length > 0);
    await until('it to fail', async () => {
      const clients = String(await redis.client('LIST'));
      const id = clients.match(new RegExp(`^id=(\\d+) addr=${waits.at(-1)?.source} `, 'm'))?.[1];
      return id !== undefined && (await redis.client('UNBLOCK', id, 'ERROR')) === 1;
    });
    const before = waits.length;
    await until('the next wait', async () => waits.length > before);
    expect(waits[before]?.seconds).toBe(waits[0]?.seconds);
  } finally {
    await worker.close(() => false, Promise.resolve());
    monitor.disconnect();
    const left = await redis.keys(`${keys.bullPrefix(0)}*`);
    if (left.length > 0) await redis.del(left);
    connection.disconnect();
    redis.disconnect();
  }
});
