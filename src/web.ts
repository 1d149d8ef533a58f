/** Composition root of the ingress: wires, listens, drains. */
import { randomBytes } from 'node:crypto';
import { Types } from 'mongoose';
import { systemClock } from './clock';
import { createBodyParsers } from './contract/requests';
import { createClientDirectory } from './directory/clients';
import { createKeyRing } from './directory/sealing';
import { createUserDirectory } from './directory/users';
import { createAcceptPush } from './ingress/accept-push';
import { BASE_PATH, createApp } from './ingress/app';
import { createHealthProbe } from './ingress/health';
import { listen } from './ingress/http-server';
import { watchLostReplies } from './ingress/lost-replies';
import { createRefusalLog } from './ingress/refusal-log';
import { createValidatePush } from './ingress/validate-push';
import { announceReady, runMain } from './lifecycle';
import { isMongoReady, pingMongo } from './mongo';
import { startProcess } from './process';
import { createFinalize } from './push-log/finalize';
import { createPushLog } from './push-log/log';
import { createLogLookups } from './push-log/lookups';
import type { Settlement } from './push-log/settlement';
import { createAdmission } from './queue/admission';
import { createGroupQueue } from './queue/group-queue';
import { connectSubscriber, isRedisReady } from './queue/redis';
import { createReplyInbox } from './queue/replies';

async function main(): Promise<void> {
  const { config, logger, lifecycle, mongo, redis, keys, lanes, turns } = await startProcess('web');
  const clock = systemClock;
  const subscriber = connectSubscriber(config.REDIS_URL, logger);
  lifecycle.onStop('subscriber', () => subscriber.disconnect());
  const ingressId = randomBytes(6).toString('hex');
  const inbox = await createReplyInbox<Settlement>(subscriber, keys, ingressId, logger);
  const pushLog = createPushLog(mongo);
  const lookups = createLogLookups(mongo);
  lifecycle.onStop('lost replies', watchLostReplies(inbox, lookups, logger));

  const clients = createClientDirectory(mongo, createKeyRing(config.SECRET_KEYS), clock, logger);
  const users = createUserDirectory(mongo, clock);
  const health = createHealthProbe({
    isDatabaseUp: () => isMongoReady(mongo),
    isQueueUp: () => isRedisReady(redis) && isRedisReady(subscriber),
    pingDatabase: () => pingMongo(mongo),
    pingQueue: () => redis.ping(),
  });
  const logRefusal = createRefusalLog(pushLog, clock, logger);
  const accept = createAcceptPush({
    admit: createAdmission(redis, keys, { rate: config.RATE_LIMIT, burst: config.RATE_BURST }),
    validate: createValidatePush({
      parsers: createBodyParsers({ timeZone: config.PORTAL_TIME_ZONE, clock }),
      concluded: new Set(config.CONCLUDED_STATUSES),
      clock,
      unknownUsers: users.unknown,
    }),
    pushLog,
    lookups,
    finalize: createFinalize(pushLog, lookups),
    logRefusal,
    queue: createGroupQueue(lanes, turns, logger),
    inbox,
    ingressId,
    clock,
    timeout: config.PUSH_TIMEOUT,
    replays: config.IDEMPOTENT_REPLAY === 'on',
    logger,
  });
  const app = createApp({
    envelope: {
      clock,
      newRequestId: () => new Types.ObjectId().toHexString(),
      // Load balancers know a status only, so health keeps its own.
      always200: (path) =>
        config.HTTP_STATUS_MODE === 'always-200' && path.startsWith(`${BASE_PATH}/`),
      logger,
    },
    push: {
      accept,
      findClient: clients.find,
      logRefusal,
      checkReady: health.check,
      clock,
      bodyLimit: config.BODY_LIMIT,
      timeout: config.PUSH_TIMEOUT,
    },
    health,
    maxInFlight: config.MAX_IN_FLIGHT,
  });
  const server = await listen(app.callback(), { host: config.HOST, port: config.PORT });
  lifecycle.onStop('server', () => {
    health.drain();
    return server.close();
  });
  logger.info({ url: server.url, ingressId }, 'listening');
  announceReady({ url: server.url });
}

runMain(main);
