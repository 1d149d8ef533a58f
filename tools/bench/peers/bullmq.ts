/**
 * BullMQ with one job per push, and `waitUntilFinished`. One queue does not keep the order of a key. With several
 * queues (SHARDS), all jobs of a key are in the same queue, which runs one job at a time.
 */
import { createHash } from 'node:crypto';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { announceReady } from '../../../src/infra/lifecycle';
import { type PeerOutcome, type PeerPush, runPeer, servePeer } from './front';
import { connectLedger } from './ledger';

/** Concurrency of a single queue, which keeps no order. */
const CONCURRENCY = 64;
/** Finished jobs that BullMQ keeps: `waitUntilFinished` reads the result from the finished job. */
const KEPT = 1_000;
const TIMEOUT = 30_000;

const shards = Number(process.env.SHARDS ?? 1);
const isOrdered = shards > 1;
const names = Array.from({ length: shards }, (_, n) => `pushes-${n}`);
const shardOf = ({ externalId }: PeerPush) =>
  createHash('md5').update(externalId).digest().readUInt32BE(0) % shards;

interface Shard {
  readonly queue: Queue<PeerPush, PeerOutcome>;
  readonly events: QueueEvents;
}

runPeer(async () => {
  const connection = new Redis(String(process.env.REDIS_URL), { maxRetriesPerRequest: null });
  const options = { connection, prefix: String(process.env.REDIS_NAMESPACE) };
  const ledger = await connectLedger();
  if (process.env.ROLE === 'worker') {
    const apply = (job: { data: PeerPush }) => ledger.apply(job.data);
    const concurrency = isOrdered ? 1 : CONCURRENCY;
    const workers = names.map((name) => new Worker(name, apply, { ...options, concurrency }));
    await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    return announceReady({});
  }
  const open = await Promise.all(names.map((name) => openShard(name, options)));
  servePeer(async (push) => {
    const shard = open[isOrdered ? shardOf(push) : 0];
    if (!shard) throw new Error('no such shard');
    await ledger.log(push);
    const job = await shard.queue.add('push', push);
    return job.waitUntilFinished(shard.events, TIMEOUT);
  });
});

async function openShard(
  name: string,
  { connection, prefix }: { connection: Redis; prefix: string },
): Promise<Shard> {
  const defaultJobOptions = { removeOnComplete: KEPT, removeOnFail: true };
  const queue = new Queue<PeerPush, PeerOutcome>(name, { connection, prefix, defaultJobOptions });
  if (isOrdered) await queue.setGlobalConcurrency(1);
  const events = new QueueEvents(name, { connection: connection.duplicate(), prefix });
  await events.waitUntilReady();
  return { queue, events };
}
