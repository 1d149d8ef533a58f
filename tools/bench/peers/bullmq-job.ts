/** A BullMQ job per push, and `waitUntilFinished`. Nothing keeps the order of a key. */
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { announceReady } from '../../../src/runtime/lifecycle';
import { type PeerOutcome, type PeerPush, serve } from './front';
import { connectLedger } from './ledger';
import { runPeer } from './run-peer';

const NAME = 'pushes';
const CONCURRENCY = 64;
/** Finished jobs: one that is gone at once cannot tell whoever waits for it. */
const KEPT = 1_000;
const TIMEOUT = 30_000;

runPeer(async () => {
  const connection = new Redis(String(process.env.REDIS_URL), { maxRetriesPerRequest: null });
  const prefix = process.env.REDIS_NAMESPACE;
  const ledger = await connectLedger();
  if (process.env.ROLE === 'worker') {
    const apply = (job: { data: PeerPush }) => ledger.apply(job.data);
    const options = { connection, prefix, concurrency: CONCURRENCY };
    await new Worker<PeerPush, PeerOutcome>(NAME, apply, options).waitUntilReady();
    return announceReady({});
  }
  const queue = new Queue<PeerPush, PeerOutcome>(NAME, {
    connection,
    prefix,
    defaultJobOptions: { removeOnComplete: KEPT, removeOnFail: true },
  });
  const events = new QueueEvents(NAME, { connection: connection.duplicate(), prefix });
  await events.waitUntilReady();
  serve(async (push) => {
    await ledger.log(push);
    const job = await queue.add('push', push);
    return job.waitUntilFinished(events, TIMEOUT);
  });
});
