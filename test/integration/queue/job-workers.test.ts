/** How a worker goes on after its wait for a partition job has failed, as in a failover of Redis. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pino from 'pino';
import { JobWorkers } from '../../../src/queue/jobs';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../../src/queue/keys';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

interface Wait {
  readonly seconds: string;
  /** Address of the connection that waits. */
  readonly source: string;
}

const { redisUrl } = testServers();
const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
const keyOf = (name: string) => `${keys.bullPrefix(0)}:${PARTITION_JOB_QUEUE}:${name}`;
let redis: Redis;
let connection: Redis;
let monitor: Redis;
let worker: JobWorkers;
/** The waits for a job, since the worker was started. */
let waits: Wait[];

beforeEach(async () => {
  redis = new Redis(redisUrl);
  connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  waits = [];
  monitor = await redis.monitor();
  monitor.on('monitor', (_time: string, [name, key, value]: string[], source: string) => {
    const command = name?.toLowerCase();
    if (command === 'bzpopmin' && key === keyOf('marker')) {
      waits.push({ seconds: String(value), source });
    }
  });
});
const start = () => {
  const logger = pino({ level: 'silent' });
  worker = new JobWorkers({ connection, keys, logger }, async () => undefined);
};
afterEach(async () => {
  // A slow answer of Redis must not end the close early: connections would be left behind.
  await worker.close(() => true, Promise.resolve());
  monitor.disconnect();
  const left = await redis.keys(keyOf('*'));
  if (left.length > 0) await redis.del(left);
  connection.disconnect();
  redis.disconnect();
});

test('a wait for a job that failed is followed by one that is no longer', async () => {
  start();
  await until('a wait', async () => waits.length > 0);
  await until('it to fail', async () => {
    const clients = String(await redis.client('LIST'));
    const id = clients.match(new RegExp(`^id=(\\d+) addr=${waits.at(-1)?.source} `, 'm'))?.[1];
    return id !== undefined && (await redis.client('UNBLOCK', id, 'ERROR')) === 1;
  });
  // MONITOR may tell of the failed wait only now, so the next two are looked at.
  const before = waits.length;
  await until('two more waits', async () => waits.length >= before + 2);
  const seconds = new Set(waits.map((wait) => wait.seconds));
  expect(seconds).toEqual(new Set([waits[0]?.seconds]));
});
