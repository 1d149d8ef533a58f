/** Opens what `matterctl log resend` needs: ledger and push log for the dry run, and the queue for the resend. */
import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import { systemClock } from '../../../src/concurrency/timing';
import { createLogger, processName } from '../../../src/infra/logger';
import {
  connectFailFast,
  connectSubscriber,
  type RedisConnection,
  redisReady,
} from '../../../src/infra/redis/connect';
import { createRedisTime, type RedisTime } from '../../../src/infra/redis/time';
import { createBodyParsers } from '../../../src/protocol/requests';
import {
  type CheckBodies,
  createCheckBodies,
  createQueueAndWait,
  PushFinalizer,
  startLostReplyLookup,
} from '../../../src/pushes/pushes';
import { createOperatorResend, type OperatorResend } from '../../../src/pushes/resend';
import { requireLayout } from '../../../src/queue/commands/agreements';
import { createPartitions } from '../../../src/queue/commands/partitions';
import { createRedisKeys, type RedisKeys } from '../../../src/queue/keys';
import {
  createGroupQueue,
  createPartitionJobs,
  createReplyInbox,
  type PartitionJobs,
} from '../../../src/queue/producer';
import { createUserDirectory } from '../../../src/storage/directory';
import { createLedger } from '../../../src/storage/ledger';
import {
  createFinalize,
  createLogLookups,
  createPushLog,
  type Settlement,
} from '../../../src/storage/push-log';
import { createIdSource } from '../../../src/storage/push-log/request-id';
import { CommandFailure } from '../failure';
import type { Settings } from '../tool';
import type { TrailOperator } from '../with-trail';
import { DryRun } from './preview';

/** The current validation of bodies. */
function openValidation(connection: Connection, settings: Settings): CheckBodies {
  const clock = systemClock;
  const users = createUserDirectory(connection, clock);
  return createCheckBodies({
    parsers: createBodyParsers({ timeZone: settings.timeZone(), clock }),
    concluded: settings.concluded(),
    clock,
    unknownUsers: users.unknown,
    similarUsers: users.similar,
  });
}

export function openDryRun(connection: Connection, settings: Settings): DryRun {
  return new DryRun({
    checkBodies: openValidation(connection, settings),
    ledger: createLedger(connection),
    lookups: createLogLookups(connection),
    names: createUserDirectory(connection, systemClock).names,
    concluded: settings.concluded(),
    clock: systemClock,
  });
}

export interface Joining {
  readonly settings: Settings;
  readonly by: TrailOperator;
  /** True: also applies pushes that were resent before. */
  readonly again: boolean;
}

/**
 * Runs `work` with a function that queues pushes as a web process does. The rate of the client does not apply; only the
 * number of concurrent pushes is limited.
 *
 * @throws CommandFailure if REDIS_URL is not set, if Redis does not answer, or if the service has another number of
 *   shards or partitions
 */
export async function withResend<T>(
  connection: Connection,
  joining: Joining,
  work: (resend: OperatorResend) => Promise<T>,
): Promise<T> {
  const { REDIS_URL, REDIS_NAMESPACE, REDIS_SHARDS, REDIS_PARTITIONS } = joining.settings.queue();
  const redis = connectFailFast(REDIS_URL, LOGGER);
  const subscriber = connectSubscriber(REDIS_URL, LOGGER);
  const keys = createRedisKeys(REDIS_NAMESPACE, REDIS_SHARDS, REDIS_PARTITIONS);
  const jobs = createPartitionJobs(redis, keys);
  try {
    const checkQueue = async () => {
      await redisReady(redis);
      await requireLayout(redis, keys, REDIS_NAMESPACE);
    };
    await checkQueue().catch((error: Error) => {
      throw new CommandFailure(error.message);
    });
    const servers = { connection, redis, subscriber, keys, jobs };
    const { resend, leave } = await joinQueue(servers, joining);
    return await work(resend).finally(leave);
  } finally {
    await jobs.close();
    subscriber.disconnect();
    redis.disconnect();
  }
}

/** Logs nothing, because the result of each push contains its error. */
const LOGGER = createLogger('matterctl', 'silent');

interface Servers {
  readonly connection: Connection;
  readonly redis: RedisConnection;
  readonly subscriber: RedisConnection;
  readonly keys: RedisKeys;
  readonly jobs: PartitionJobs;
}

async function joinQueue(servers: Servers, { settings, by, again }: Joining) {
  const { connection, redis, subscriber, keys } = servers;
  const { PUSH_TIMEOUT, PUSH_BODY_RETENTION } = settings.queue();
  const replyTo = randomBytes(6).toString('hex');
  const inbox = await createReplyInbox<Settlement>(subscriber, keys, replyTo, LOGGER);
  const keepBodies = PUSH_BODY_RETENTION > 0;
  const pushLog = createPushLog(connection, { keepBodies, clock: systemClock });
  const lookups = createLogLookups(connection);
  const lostReplies = startLostReplyLookup({ inbox, lookups, logger: LOGGER });
  const redisTime = createRedisTime(redis);
  await redisTime.now();
  const queue = openQueue(servers, settings, redisTime);
  const name = processName('matterctl');
  const finalize = createFinalize(pushLog, lookups);
  const finalizer = new PushFinalizer({ finalize, name, clock: systemClock, logger: LOGGER });
  const resend = createOperatorResend({
    checkBodies: openValidation(connection, settings),
    pushLog,
    finalizer,
    // This process does not watch for outages. A failed call is the error of its push.
    database: { isLost: () => false, guard: (call) => call },
    queueAndWait: createQueueAndWait({
      queue,
      inbox,
      finalizer,
      clock: systemClock,
      logger: LOGGER,
    }),
    replyTo,
    newRequestId: createIdSource(redisTime.aheadOf).ofRequest,
    clock: systemClock,
    timeout: PUSH_TIMEOUT,
    runId: `run-${replyTo}`,
    operator: `${by.operator}@${by.host}`,
    again,
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
  return createGroupQueue({ partitions, jobs, layout: keys, logger: LOGGER });
}
