/** How a worker goes on with its partition jobs after a failover or a restart of Redis. */
import { randomBytes } from 'node:crypto';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import pino from 'pino';
import { createPartitionJobs, JobWorkers } from '../../../src/queue/jobs';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../../src/queue/keys';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

const { redisUrl } = testServers();
const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
const keyOf = (name: string) => `${keys.bullPrefix(0)}:${PARTITION_JOB_QUEUE}:${name}`;
let redis: Redis;
let connection: Redis;
let worker: JobWorkers;

beforeEach(() => {
  redis = new Redis(redisUrl);
  connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
});
const start = (take: () => Promise<void> = async () => undefined) => {
  const logger = pino({ level: 'silent' });
  worker = new JobWorkers({ connection, keys, logger }, take);
};
afterEach(async () => {
  // A slow answer of Redis must not end the close early: connections would be left behind.
  await worker.close(() => true, Promise.resolve());
  const left = await redis.keys(keyOf('*'));
  if (left.length > 0) await redis.del(left);
  connection.disconnect();
  redis.disconnect();
});

test('a wait for a job that failed is followed by one that is no longer', async () => {
  // The command is not replaced: the spy only records the waits of the worker, and their connections.
  const { calls, contexts } = jest.spyOn(Redis.prototype, 'bzpopmin').mock;
  start();
  await until('a wait', async () => calls.length > 0);
  await until('it to fail', async () => {
    const port = contexts.at(-1)?.stream.localPort;
    const clients = String(await redis.client('LIST'));
    const id = clients.match(new RegExp(`^id=(\\d+) addr=\\S+:${port} `, 'm'))?.[1];
    return id !== undefined && (await redis.client('UNBLOCK', id, 'ERROR')) === 1;
  });
  const before = calls.length;
  await until('two more waits', async () => calls.length >= before + 2);
  const seconds = new Set(calls.map((call) => call.at(1)));
  expect(seconds).toEqual(new Set([calls[0]?.at(1)]));
});

test('a job that its worker has received twice keeps its lock when the first run ends', async () => {
  // The method is not replaced: the spy only records which locks the worker renews.
  const { calls } = jest.spyOn(Worker.prototype, 'extendJobLocks').mock;
  const ends: (() => void)[] = [];
  start(() => new Promise<void>((resolve) => ends.push(resolve)));
  const jobs = createPartitionJobs(redis, keys);
  try {
    await jobs.schedule([7]);
    await until('the first run', async () => ends.length >= 1);
    // As after an outage of Redis that outlasts the lock: the job counts as stalled, and the same worker gets it again.
    await redis.del(keyOf('1:lock'));
    await until('the second run', async () => ends.length >= 2);
    const token = await redis.get(keyOf('1:lock'));
    ends[0]?.();
    const before = calls.length;
    const renewals = () =>
      calls.slice(before).filter(([ids, tokens]) => tokens[ids.indexOf('1')] === token);
    // One renewal may have been under way when the first run ended.
    await until('renewals after the first run', async () => renewals().length >= 3);
  } finally {
    for (const end of ends) end();
    await jobs.close();
  }
});
