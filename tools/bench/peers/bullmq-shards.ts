/** Order by shards: a key belongs to one of 16 queues, and each works on one job at a time. */
import { createHash } from 'node:crypto';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { announceReady } from '../../../src/runtime/lifecycle';
import { type PeerOutcome, type PeerPush, serve } from './front';
import { connectLedger } from './ledger';
import { runPeer } from './run-peer';

const SHARDS = 16;
/** Finished jobs: one that is gone at once cannot tell whoever waits for it. */
const KEPT = 1_000;
const TIMEOUT = 30_000;
const names = Array.from({ length: SHARDS }, (_, n) => `pushes-${n}`);
const shardOf = ({ externalId }: PeerPush) =>
  createHash('md5').update(externalId).digest().readUInt32BE(0) % SHARDS;

runPeer(async () => {
  const connection = new Redis(String(process.env.REDIS_URL), { maxRetriesPerRequest: null });
  const prefix = process.env.REDIS_NAMESPACE;
  const ledger = await connectLedger();
  if (process.env.ROLE === 'worker') {
    const apply = (job: { data: PeerPush }) => ledger.apply(job.data);
    const workers = names.map((name) => new Worker(name, apply, { connection, prefix }));
    await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    return announceReady({});
  }
  const shards = await Promise.all(
    names.map(async (name) => {
      const defaultJobOptions = { removeOnComplete: KEPT, removeOnFail: true };
      const queue = new Queue<PeerPush, PeerOutcome>(name, {
        ...{ connection, prefix, defaultJobOptions },
      });
      await queue.setGlobalConcurrency(1);
      const events = new QueueEvents(name, { connection: connection.duplicate(), prefix });
      await events.waitUntilReady();
      return { queue, events };
    }),
  );
  serve(async (push) => {
    const shard = shards[shardOf(push)];
    if (!shard) throw new Error('no such shard');
    await ledger.log(push);
    const job = await shard.queue.add('push', push);
    return job.waitUntilFinished(shard.events, TIMEOUT);
  });
});
