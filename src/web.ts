/** Composition root of the web process: wires the way of a push, and beside it all else; listens, drains. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from './concurrency/clock';
import { createApp } from './http/app';
import { listen } from './http/http-server';
import { createFlow } from './observability/processes/flow';
import { startProcess } from './process';
import { OPEN_PATH } from './protocol/paths';
import { createBodyParsers } from './protocol/requests';
import { hourAt } from './protocol/time';
import { createAdmit } from './pushes/admit';
import { PushFinalizer } from './pushes/finalize-push';
import { LoadShedder } from './pushes/load-shedder';
import { createRejectionLog, REJECTIONS, SHED } from './pushes/rejection-log';
import { createSettlePush, watchLostReplies } from './pushes/settle-push';
import { createSubmitPush } from './pushes/submit-push';
import { createCheckBody, createValidatePush } from './pushes/validate-push';
import { createAdmission } from './queue/admission';
import { createGroupQueue } from './queue/group-queue';
import { createPartitionJobs } from './queue/partition-jobs';
import { watchEcho } from './queue/probe';
import { connectSubscriber } from './queue/redis';
import { createRejectionQuota } from './queue/rejection-quota';
import { createReplyInbox } from './queue/replies';
import { announceReady, runMain } from './runtime/lifecycle';
import { processName } from './runtime/process-name';
import { createClientDirectory } from './storage/directory/clients';
import { createKeyRing } from './storage/directory/sealing';
import { createSecretUses } from './storage/directory/secret-uses';
import { createUserDirectory } from './storage/directory/users';
import { createFinalize } from './storage/push-log/finalize';
import { createPushLog } from './storage/push-log/log';
import { createLogLookups } from './storage/push-log/lookups';
import { createPushCounts } from './storage/push-log/push-counts';
import { createRequestIds } from './storage/push-log/request-id';
import type { Settlement } from './storage/push-log/settlement';
import { openDocs } from './web/docs';
import { openHealth } from './web/health';
import { openQueries } from './web/queries';

async function main(): Promise<void> {
  const {
    config,
    logger,
    lifecycle,
    mongo,
    redis,
    keys,
    partitions,
    redisTime,
    metrics,
    tracing,
    tellOfItself,
  } = await startProcess('web');
  const clock = systemClock;
  const { BODY_LIMIT: bodyLimit, PUSH_TIMEOUT: timeout } = config;

  // Reply inbox, and the fallback that reads lost replies from the push log.
  const subscriber = connectSubscriber(config.REDIS_URL, logger);
  lifecycle.onStop('subscriber', () => subscriber.disconnect());
  const ingressId = randomBytes(6).toString('hex');
  const inbox = await createReplyInbox<Settlement>(subscriber, keys, ingressId, logger, metrics);
  const echo = watchEcho({ redis, subscriber, keys, ingressId, logger });
  lifecycle.onStop('echo', () => echo.stop());
  const pushLog = createPushLog(mongo, {
    keepBodies: config.PUSH_BODY_RETENTION > 0,
    metrics,
    tracing,
    clock,
  });
  const counts = createPushCounts(mongo, {
    logger,
    hourOf: (at) => hourAt(at, config.PORTAL_TIME_ZONE),
  });
  lifecycle.onStop('counts', () => counts.stop());
  const lookups = createLogLookups(mongo);
  const lostReplies = watchLostReplies({ inbox, lookups, logger, metrics });
  lifecycle.onStop('lost replies', () => lostReplies.stop());

  // The way of a push. Who sent it?
  const keyRing = createKeyRing(config.SECRET_KEYS);
  const secretUses = createSecretUses(mongo, clock, logger);
  lifecycle.onStop('uses of secrets', () => secretUses.stop());
  const health = openHealth({ mongo, redis, subscriber, keys });
  const forRejections = { pushLog, clock, logger, metrics };
  const quota = createRejectionQuota(redis, keys);
  const newRequestId = createRequestIds(() => redisTime.aheadOf(clock));
  const auth = {
    findClient: createClientDirectory(mongo, keyRing, clock, logger).find,
    logRejection: createRejectionLog({ ...forRejections, quota }, REJECTIONS),
    counts,
    noteUse: secretUses.note,
    checkReady: health.check,
    newRequestId,
    clock,
    timeout,
    metrics,
  };

  // May it come in, and is it right?
  const rates = { rate: config.RATE_LIMIT, burst: config.RATE_BURST };
  const admit = createAdmit(createAdmission(redis, keys, config.SIGNATURE_GRACE), rates);
  const checkBody = createCheckBody({
    parsers: createBodyParsers({ timeZone: config.PORTAL_TIME_ZONE, clock }),
    concluded: new Set(config.CONCLUDED_STATUSES),
    clock,
    unknownUsers: createUserDirectory(mongo, clock, tracing).unknown,
  });

  // Into its partition, and the wait for what becomes of it.
  const finalize = createFinalize(pushLog, lookups);
  const finalizer = new PushFinalizer({
    finalize,
    name: processName('web'),
    clock,
    logger,
    tracing,
  });
  lifecycle.onStop('finalizer', () => finalizer.stop());
  const jobs = createPartitionJobs(redis, keys);
  lifecycle.onStop('partition jobs', () => jobs.close());
  const queue = createGroupQueue(partitions, jobs, logger, metrics, tracing);
  const settle = createSettlePush({ queue, inbox, finalizer, ingressId, clock, logger });

  const submit = createSubmitPush({
    loadShedder: new LoadShedder({ timeout, clock: () => performance.now() }),
    admit,
    validate: createValidatePush(checkBody),
    pushLog,
    lookups,
    logRejection: createRejectionLog(forRejections, REJECTIONS),
    logShed: createRejectionLog(forRejections, SHED),
    settle,
    finalizer,
    counts,
    clock,
    timeout,
    replays: config.IDEMPOTENT_REPLAY === 'on',
    metrics,
  });

  const flow = createFlow();
  const app = createApp({
    listeners: { clock, logger, metrics, flow },
    newRequestId,
    // Load balancers know a status only, so health keeps its own.
    always200: (path) =>
      config.HTTP_STATUS_MODE === 'always-200' && path.startsWith(`${OPEN_PATH}/`),
    auth,
    admit,
    submit,
    checkBody,
    ...openQueries({
      config,
      mongo,
      keyRing,
      keyUses: lookups.keyUses,
      clock,
      checkReady: health.check,
    }),
    ...openDocs(config),
    health,
    maxInFlight: config.MAX_IN_FLIGHT,
    bodyLimit,
    timeout,
    accessLog: config.LOG_REQUESTS === 'on',
    tracing,
  });
  const server = await listen(app.callback(), { host: config.HOST, port: config.PORT });
  lifecycle.onStop('server', async () => {
    health.leave();
    // Until whoever sends callers here has noticed: a closed port would refuse them.
    await sleep(config.DRAIN_DELAY);
    health.drain();
    await server.close();
  });
  tellOfItself(() => ({
    work: { 'in flight': inbox.size },
    defaultRate: config.RATE_LIMIT,
    flow: flow.read(),
  }));
  logger.info({ url: server.url }, 'listening');
  announceReady({ url: server.url });
}

runMain(main);
