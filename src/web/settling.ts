/**
 * Connects the parts that settle recorded pushes: the queue, the inbox for replies of workers, and the finalizer for
 * pushes without a reply.
 */
import { randomBytes } from 'node:crypto';
import { systemClock as clock } from '../concurrency/timing';
import type { Lifecycle } from '../infra/lifecycle';
import type { Logger } from '../infra/logger';
import { connectSubscriber, type RedisConnection } from '../infra/redis/connect';
import type { Metrics } from '../observability/metrics';
import type { Tracing } from '../observability/tracing';
import {
  createQueueAndWait,
  finalizeWaiting,
  PushFinalizer,
  type QueueAndWait,
  startLostReplyLookup,
} from '../pushes/pushes';
import type { Partitions } from '../queue/commands/partitions';
import { createEchoCheck } from '../queue/echo';
import type { RedisKeys } from '../queue/keys';
import {
  createGroupQueue,
  createPartitionJobs,
  createReplyInbox,
  type ReplyInbox,
} from '../queue/producer';
import {
  createFinalize,
  type LogLookups,
  type PushLog,
  type Settlement,
} from '../storage/push-log';

interface SettlingDependencies {
  readonly name: string;
  readonly config: { readonly REDIS_URL: string };
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly partitions: Partitions;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
}

export interface WebSettling {
  readonly queueAndWait: QueueAndWait;
  readonly inbox: ReplyInbox<Settlement>;
  /** Suffix of the Redis channel on which this process receives replies. */
  readonly replyTo: string;
  readonly subscriber: RedisConnection;
  readonly finalizer: PushFinalizer;
  /** Finalizes the pushes that wait for a reply. */
  readonly endWaiting: () => Promise<void>;
}

export async function createSettling(
  base: SettlingDependencies,
  { pushLog, lookups }: { readonly pushLog: PushLog; readonly lookups: LogLookups },
): Promise<WebSettling> {
  const { name, config, logger, lifecycle, redis, keys, partitions, metrics, tracing } = base;
  const subscriber = connectSubscriber(config.REDIS_URL, logger, redis);
  lifecycle.onStop('subscriber', () => subscriber.disconnect());
  const replyTo = randomBytes(6).toString('hex');
  const inbox = await createReplyInbox<Settlement>(subscriber, keys, replyTo, logger, metrics);
  const echo = createEchoCheck({ redis, subscriber, keys, channel: keys.replies(replyTo), logger });
  lifecycle.run('echo', echo);
  lifecycle.run('lost replies', startLostReplyLookup({ inbox, lookups, logger, metrics }));
  const finalize = createFinalize(pushLog, lookups);
  const finalizer = new PushFinalizer({ finalize, name, clock, logger, tracing });
  lifecycle.run('finalizer', finalizer);
  const jobs = createPartitionJobs(redis, keys);
  lifecycle.onStop('partition jobs', () => jobs.close());
  const queue = createGroupQueue({ partitions, jobs, layout: keys, logger, metrics, tracing });
  const queueAndWait = createQueueAndWait({ queue, inbox, finalizer, clock, logger });
  const endWaiting = () => finalizeWaiting(inbox, finalizer, clock);
  return { queueAndWait, inbox, replyTo, subscriber, finalizer, endWaiting };
}
