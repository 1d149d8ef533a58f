/** The path of a recorded push through the queue, to its final state. */
import { systemClock } from '../concurrency/clock';
import type { PushFinalizer } from '../pushes/finalize-push';
import {
  createSettlePush,
  createSettlePushes,
  type SettlePush,
  type SettlePushes,
} from '../pushes/settle-push';
import { createGroupQueue } from '../queue/group-queue';
import type { RedisKeys } from '../queue/keys';
import { createPartitionJobs } from '../queue/partition-jobs';
import type { Partitions } from '../queue/partitions';
import type { RedisConnection } from '../queue/redis';
import type { ReplyInbox } from '../queue/replies';
import type { Lifecycle } from '../runtime/lifecycle';
import type { Logger } from '../runtime/logger';
import type { Settlement } from '../storage/push-log/settlement';
import type { Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';

/** What settling takes from its process. */
export interface SettlingBase {
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly partitions: Partitions;
  readonly metrics: Metrics;
  /** Undefined if TRACING is off. */
  readonly tracing: Tracing | undefined;
}

export interface SettlingParts {
  readonly inbox: ReplyInbox<Settlement>;
  /** The channel of the inbox. */
  readonly ingressId: string;
}

export function openSettling(
  { logger, lifecycle, redis, keys, partitions, metrics, tracing }: SettlingBase,
  { inbox, ingressId }: SettlingParts,
  finalizer: PushFinalizer,
): { readonly settle: SettlePush; readonly settleAll: SettlePushes } {
  const jobs = createPartitionJobs(redis, keys);
  lifecycle.onStop('partition jobs', () => jobs.close());
  const { shards } = keys;
  const queue = createGroupQueue({ partitions, jobs, shards, logger, metrics, tracing });
  const settling = { queue, inbox, finalizer, ingressId, clock: systemClock, logger };
  return { settle: createSettlePush(settling), settleAll: createSettlePushes(settling) };
}
