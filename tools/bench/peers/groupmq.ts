/**
 * GroupMQ with one group per key. It cannot wait for a result, so the worker publishes the result to the web process.
 */
import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'groupmq';
import { Redis } from 'ioredis';
import { announceReady } from '../../../src/infra/lifecycle';
import { type PeerOutcome, type PeerPush, runPeer, servePeer } from './front';
import { connectLedger } from './ledger';

const CONCURRENCY = 64;
const TIMEOUT = 30_000;

interface Job {
  readonly push: PeerPush;
  readonly replyTo: string;
}

runPeer(async () => {
  const redis = new Redis(String(process.env.REDIS_URL), { maxRetriesPerRequest: null });
  const namespace = String(process.env.REDIS_NAMESPACE);
  const queue = new Queue<Job>({ redis, namespace });
  const ledger = await connectLedger();
  if (process.env.ROLE === 'worker') {
    const worker = new Worker<Job>({
      queue,
      concurrency: CONCURRENCY,
      handler: async ({ data: { push, replyTo } }) => {
        const done = await ledger.apply(push);
        await redis.publish(replyTo, JSON.stringify([push.id, done]));
      },
    });
    void worker.run();
    return announceReady({});
  }
  const waiting = new Map<string, (done: PeerOutcome) => void>();
  const replyTo = `${namespace}:${randomUUID()}`;
  const subscriber = redis.duplicate();
  subscriber.on('message', (_, text: string) => {
    const [id, done] = JSON.parse(text) as [string, PeerOutcome];
    waiting.get(id)?.(done);
  });
  await subscriber.subscribe(replyTo);
  servePeer(async (push) => {
    await ledger.log(push);
    const reply = new Promise<PeerOutcome>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no reply')), TIMEOUT);
      waiting.set(push.id, (done) => {
        clearTimeout(timer);
        resolve(done);
      });
    }).finally(() => waiting.delete(push.id));
    await queue.add({ groupId: `${push.systemCode}\n${push.externalId}`, data: { push, replyTo } });
    return reply;
  });
});
