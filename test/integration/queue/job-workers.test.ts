/** How a worker goes on with its partition jobs after a failover or a restart of Redis. */
import { randomBytes } from 'node:crypto';
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
  const ends: (() => void)[] = [];
  start(() => new Promise<void>((resolve) => ends.push(resolve)));
  const jobs = createPartitionJobs(redis, keys);
  try {
    await jobs.schedule([7]);
    await until('the first run', async () => ends.length === 1);
    // As after an outage of Redis that outlasts the lock: the job counts as stalled, and the same worker gets it again.
    await redis.del(keyOf('1:lock'));
    await until('the second run', async () => ends.length === 2);
    ends[0]?.();
    await severalRenewals(keyOf('1:lock'));
    // Without a lock, the job would count as stalled once more.
    expect(ends).toHaveLength(2);
  } finally {
    for (const end of ends) end();
    await jobs.close();
  }
});

/** Waits for more renewals of a lock than fit into its duration, each seen as a rise of its remaining time. */
async function severalRenewals(lock: string): Promise<void> {
  let renewals = 0;
  let left = await redis.pttl(lock);
  await until('renewals of the lock', async () => {
    const now = await redis.pttl(lock);
    if (now > left) renewals += 1;
    left = now;
    return renewals === 6;
  });
}
