/** What a resend needs: the ledger and the log to look into, and a place in the queue to push from. */
import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import { systemClock } from '../../../src/concurrency/clock';
import { createBodyParsers } from '../../../src/protocol/requests';
import { PushFinalizer } from '../../../src/pushes/finalize-push';
import { createResendPush, type ResendPush } from '../../../src/pushes/resend-push';
import { createSettlePush, watchLostReplies } from '../../../src/pushes/settle-push';
import {
  createCheckBody,
  createValidatePush,
  type ValidatePush,
} from '../../../src/pushes/validate-push';
import { createGroupQueue } from '../../../src/queue/group-queue';
import { createRedisKeys, type RedisKeys } from '../../../src/queue/keys';
import { createPartitionJobs, type PartitionJobs } from '../../../src/queue/partition-jobs';
import { createPartitions } from '../../../src/queue/partitions';
import {
  connectFailFast,
  connectSubscriber,
  type RedisConnection,
  redisReady,
} from '../../../src/queue/redis';
import { createRedisTime, type RedisTime } from '../../../src/queue/redis-time';
import { createReplyInbox } from '../../../src/queue/replies';
import { requireShards } from '../../../src/queue/shard-count';
import { createLogger } from '../../../src/runtime/logger';
import { processName } from '../../../src/runtime/process-name';
import { createUserDirectory } from '../../../src/storage/directory/users';
import { createLedger } from '../../../src/storage/ledger/matters';
import { createFinalize } from '../../../src/storage/push-log/finalize';
import { createPushLog } from '../../../src/storage/push-log/log';
import { createLogLookups } from '../../../src/storage/push-log/lookups';
import { createRequestIds } from '../../../src/storage/push-log/request-id';
import type { Settlement } from '../../../src/storage/push-log/settlement';
import { CommandFailure } from '../failure';
import type { Settings } from '../tool';
import type { Operator } from '../with-trail';
import { DryRun } from './preview';

/** The checks that a push passes today. */
function openValidation(connection: Connection, settings: Settings): ValidatePush {
  const clock = systemClock;
  const users = createUserDirectory(connection, clock);
  const checkBody = createCheckBody({
    parsers: createBodyParsers({ timeZone: settings.timeZone(), clock }),
    concluded: settings.concluded(),
    clock,
    unknownUsers: users.unknown,
    similarUsers: users.similar,
  });
  return createValidatePush(checkBody);
}

export function openDryRun(connection: Connection, settings: Settings): DryRun {
  return new DryRun({
    validate: openValidation(connection, settings),
    ledger: createLedger(connection),
    lookups: createLogLookups(connection),
    names: createUserDirectory(connection, systemClock).names,
    concluded: settings.concluded(),
    clock: systemClock,
  });
}

/**
 * Joins the queue as a web process does, for the length of `work`. The client's rate does not hold
 * here: how many are under way at once is the bound.
 *
 * @throws CommandFailure without a REDIS_URL, where Redis does not answer, or where the service has other REDIS_SHARDS
 */
export async function withResend<T>(
  connection: Connection,
  { settings, by }: { readonly settings: Settings; readonly by: Operator },
  work: (resend: ResendPush) => Promise<T>,
): Promise<T> {
  const { REDIS_URL, REDIS_NAMESPACE, REDIS_SHARDS } = settings.queue();
  const redis = connectFailFast(REDIS_URL, LOGGER);
  const subscriber = connectSubscriber(REDIS_URL, LOGGER);
  const keys = createRedisKeys(REDIS_NAMESPACE, REDIS_SHARDS);
  const jobs = createPartitionJobs(redis, keys);
  try {
    const joining = async () => {
      await redisReady(redis);
      await requireShards(redis, keys, REDIS_NAMESPACE);
    };
    await joining().catch((error: Error) => {
      throw new CommandFailure(error.message);
    });
    const servers = { connection, redis, subscriber, keys, jobs };
    const { resend, leave } = await joinQueue(servers, settings, by);
    return await work(resend).finally(leave);
  } finally {
    await jobs.close();
    subscriber.disconnect();
    redis.disconnect();
  }
}

/** What goes wrong with a push stands in its result. */
const LOGGER = createLogger('matterctl', 'silent');

interface Servers {
  readonly connection: Connection;
  readonly redis: RedisConnection;
  readonly subscriber: RedisConnection;
  readonly keys: RedisKeys;
  readonly jobs: PartitionJobs;
}

async function joinQueue(servers: Servers, settings: Settings, by: Operator) {
  const { connection, redis, subscriber, keys } = servers;
  const { PUSH_TIMEOUT, PUSH_BODY_RETENTION } = settings.queue();
  const ingressId = randomBytes(6).toString('hex');
  const inbox = await createReplyInbox<Settlement>(subscriber, keys, ingressId, LOGGER);
  const keepBodies = PUSH_BODY_RETENTION > 0;
  const pushLog = createPushLog(connection, { keepBodies, clock: systemClock });
  const lookups = createLogLookups(connection);
  const lostReplies = watchLostReplies({ inbox, lookups, logger: LOGGER });
  const redisTime = createRedisTime(redis, () => performance.now());
  await redisTime.now();
  const queue = openQueue(servers, settings, redisTime);
  const name = processName('matterctl');
  const about = { ingressId, name, clock: systemClock, logger: LOGGER };
  const finalizer = new PushFinalizer({ ...about, finalize: createFinalize(pushLog, lookups) });
  const resend = createResendPush({
    validate: openValidation(connection, settings),
    pushLog,
    settle: createSettlePush({ ...about, queue, inbox, finalizer }),
    newRequestId: createRequestIds(() => redisTime.aheadOf(systemClock)),
    clock: systemClock,
    timeout: PUSH_TIMEOUT,
    runId: `run-${ingressId}`,
    operator: `${by.operator}@${by.host}`,
  });
  const leave = async () => {
    await lostReplies.stop();
    await finalizer.stop();
  };
  return { resend, leave };
}

function openQueue({ redis, keys, jobs }: Servers, settings: Settings, redisTime: RedisTime) {
  const { PARTITION_LIMIT: pushes, PARTITION_BYTES: bytes } = settings.queue();
  const partitions = createPartitions(redis, keys, { pushes, bytes }, redisTime);
  return createGroupQueue({ partitions, jobs, shards: keys.shards, logger: LOGGER });
}
