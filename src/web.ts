/** Composition root of the web process: wires the way of a push, and beside it all else; listens, drains. */
import { randomBytes } from 'node:crypto';
import { systemClock } from './concurrency/clock';
import type { Reach } from './concurrency/reach';
import { type AppOptions, createApp } from './http/app';
import { createFlow } from './observability/processes/flow';
import { type Process, type ProcessOptions, type RunningProcess, startProcess } from './process';
import { OPEN_PATH } from './protocol/paths';
import { createBodyParsers } from './protocol/requests';
import { hourAt } from './protocol/time';
import { createAdmit } from './pushes/admit';
import { BatchWindow } from './pushes/batch-window';
import { createCheckBodies } from './pushes/check-bodies';
import { PushFinalizer } from './pushes/finalize-push';
import { LoadShedder } from './pushes/load-shedder';
import {
  createRejectionLog,
  REJECTIONS,
  type RejectionLogDependencies,
  type RejectionRate,
  SHED,
} from './pushes/rejection-log';
import { endWaiting, watchLostReplies } from './pushes/settle-push';
import { createSubmitBatch } from './pushes/submit-batch';
import { createSubmitPush } from './pushes/submit-push';
import { createCheckBody, createValidatePush } from './pushes/validate-push';
import { createAdmission } from './queue/admission';
import { watchEcho } from './queue/probe';
import { connectSubscriber } from './queue/redis';
import { createRejectionQuota } from './queue/rejection-quota';
import { createReplyInbox } from './queue/replies';
import { runMain } from './runtime/lifecycle';
import { createClientDirectory } from './storage/directory/clients';
import { createKeyRing, type KeyRing } from './storage/directory/sealing';
import { createSecretUses } from './storage/directory/secret-uses';
import { createUserDirectory } from './storage/directory/users';
import { createFinalize } from './storage/push-log/finalize';
import { createPushLog } from './storage/push-log/log';
import { createLogLookups } from './storage/push-log/lookups';
import { createPushCounts } from './storage/push-log/push-counts';
import { createIdSource } from './storage/push-log/request-id';
import type { Settlement } from './storage/push-log/settlement';
import { openDocs } from './web/docs';
import { openHealth } from './web/health';
import { openQueries } from './web/queries';
import { openReaches } from './web/reach';
import { pathPrefixOf, serve } from './web/serve';
import { openSettling } from './web/settling';

/** Starts a web. @throws as `startProcess`, and an Error naming HOST and PORT */
export const startWeb = (options: ProcessOptions): Promise<RunningProcess> =>
  startProcess('web', options, openWeb);

async function openWeb(base: Process): Promise<{ readonly url: string }> {
  const { config, logger, mongo, tracing } = base;
  const replies = await openReplies(base);
  const log = openLog(base, replies);
  const keyRing = createKeyRing(config.SECRET_KEYS);
  const waiting = { inbox: replies.inbox, finalizer: log.finalizer, clock };
  const reaches = openReaches(base, () => endWaiting(waiting));
  const health = openHealth({ ...base, subscriber: replies.subscriber, reaches });
  const { database } = reaches;
  const checkReady = health.check;
  const auth = openAuth(base, { log, keyRing, checkReady, database });
  const { keyUses } = log.lookups;
  const flow = createFlow();
  const app = createApp({
    listeners: { clock, logger, metrics: base.metrics, flow },
    newRequestId: auth.newRequestId,
    // Load balancers know a status only, so health keeps its own.
    always200: (path) =>
      config.HTTP_STATUS_MODE === 'always-200' && path.startsWith(`${OPEN_PATH}/`),
    pathPrefix: pathPrefixOf(config.PUBLIC_URL),
    auth,
    ...openPushes(base, { replies, log, database, checkPushes: health.checkPushes }),
    ...openQueries({ config, mongo, keyRing, keyUses, clock, database, checkReady }),
    ...openDocs(config),
    health,
    maxInFlight: config.MAX_IN_FLIGHT,
    bodyLimit: config.BODY_LIMIT,
    batchBytes: config.BATCH_BODY_LIMIT,
    timeout: config.PUSH_TIMEOUT,
    accessLog: config.LOG_REQUESTS === 'on',
    tracing,
  });
  const url = await serve(base, app.callback(), health);
  base.tellOfItself(() => ({
    work: { 'in flight': replies.inbox.size },
    defaultRate: config.RATE_LIMIT,
    flow: flow.read(),
  }));
  logger.info({ url }, 'listening');
  return { url };
}

const clock = systemClock;

type Replies = Awaited<ReturnType<typeof openReplies>>;

/** The inbox in which the workers' replies arrive. */
async function openReplies({ config, logger, lifecycle, redis, keys, metrics }: Process) {
  const subscriber = connectSubscriber(config.REDIS_URL, logger, redis);
  lifecycle.onStop('subscriber', () => subscriber.disconnect());
  const ingressId = randomBytes(6).toString('hex');
  const inbox = await createReplyInbox<Settlement>(subscriber, keys, ingressId, logger, metrics);
  const echo = watchEcho({ redis, subscriber, keys, channel: keys.replies(ingressId), logger });
  lifecycle.onStop('echo', () => echo.stop());
  return { subscriber, ingressId, inbox };
}

type Log = ReturnType<typeof openLog>;

/** The push log and its counts; where a reply is lost, the log is what knows. */
function openLog(
  { name, config, logger, lifecycle, mongo, redisTime, metrics, tracing }: Process,
  { inbox }: Replies,
) {
  const keepBodies = config.PUSH_BODY_RETENTION > 0;
  const pushLog = createPushLog(mongo, { keepBodies, metrics, tracing, clock });
  const hourOf = (at: number) => hourAt(at, config.PORTAL_TIME_ZONE);
  const counts = createPushCounts(mongo, { logger, hourOf });
  lifecycle.onDrain('counts', () => counts.stop());
  const lookups = createLogLookups(mongo);
  const lostReplies = watchLostReplies({ inbox, lookups, logger, metrics });
  lifecycle.onStop('lost replies', () => lostReplies.stop());
  const finalize = createFinalize(pushLog, lookups);
  const finalizer = new PushFinalizer({ finalize, name, clock, logger, tracing });
  lifecycle.onStop('finalizer', () => finalizer.stop());
  // The lines of a batch have ids of the same row as requests.
  const ids = createIdSource(() => redisTime.aheadOf(clock));
  return { pushLog, counts, lookups, finalizer, ids };
}

interface AuthParts {
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly checkReady: () => void;
  readonly database: Reach;
}

/** Who sent a request? */
function openAuth(base: Process, parts: AuthParts): AppOptions['auth'] {
  const { log, keyRing, checkReady, database } = parts;
  const { config, logger, lifecycle, mongo, redis, keys, metrics } = base;
  const { pushLog, counts } = log;
  const secretUses = createSecretUses(mongo, clock, logger);
  lifecycle.onStop('uses of secrets', () => secretUses.stop());
  const quota = createRejectionQuota(redis, keys);
  const clients = createClientDirectory(mongo, keyRing, clock, logger);
  return {
    clients: {
      ...clients,
      find: (clientId) => database.guard(clients.find(clientId)),
      findAnew: (clientId) => database.guard(clients.findAnew(clientId)),
    },
    logRejection: openRejectionLog(base, { pushLog, quota }, REJECTIONS),
    counts,
    noteUse: secretUses.note,
    checkReady,
    newRequestId: log.ids.ofRequest,
    clock,
    timeout: config.PUSH_TIMEOUT,
    metrics,
  };
}

/** The rejections of the last moments are recorded before the process ends. */
function openRejectionLog(
  { lifecycle, logger, metrics }: Process,
  { pushLog, quota }: Pick<RejectionLogDependencies, 'pushLog' | 'quota'>,
  rate: RejectionRate,
) {
  const log = createRejectionLog({ pushLog, clock, logger, metrics, quota }, rate);
  lifecycle.onDrain('rejection log', log.stop);
  return log.record;
}

interface PushParts {
  readonly replies: Replies;
  readonly log: Log;
  readonly checkPushes: () => void;
  readonly database: Reach;
}

/** May a push come in, is it right, and what becomes of it? */
function openPushes(
  base: Process,
  { replies, log, database, checkPushes }: PushParts,
): Pick<AppOptions, 'admit' | 'checkBody' | 'submit' | 'submitBatch' | 'batchReader'> {
  const { config, mongo, redis, keys, metrics, tracing } = base;
  const { PUSH_TIMEOUT: timeout } = config;
  const rates = { rate: config.RATE_LIMIT, burst: config.RATE_BURST };
  const queryKeyRates = { rate: config.QUERY_KEY_RATE, burst: config.QUERY_KEY_BURST };
  const ask = createAdmission(redis, keys, config.SIGNATURE_GRACE);
  const admit = createAdmit(ask, rates, queryKeyRates);
  const users = createUserDirectory(mongo, clock, tracing);
  const validator = {
    parsers: createBodyParsers({ timeZone: config.PORTAL_TIME_ZONE, clock }),
    concluded: new Set(config.CONCLUDED_STATUSES),
    clock,
    unknownUsers: (names: readonly string[]) => database.guard(users.unknown(names)),
    similarUsers: (names: readonly string[]) => database.guard(users.similar(names)),
  };
  const checkBody = createCheckBody(validator);
  const batchWindow = new BatchWindow(() => performance.now());
  const shared = {
    loadShedder: new LoadShedder({
      timeout,
      mostYoung: config.MAX_IN_FLIGHT,
      linesWaiting: () => batchWindow.linesWaiting,
      clock: () => performance.now(),
    }),
    batchWindow,
    admit,
    ...log,
    database,
    logRejection: openRejectionLog(base, log, REJECTIONS),
    logShed: openRejectionLog(base, log, SHED),
    clock,
    replays: config.IDEMPOTENT_REPLAY === 'on',
    metrics,
  };
  const { settle, settleAll } = openSettling(base, replies, log.finalizer);
  const validate = createValidatePush(checkBody);
  const submit = createSubmitPush({ ...shared, settle, validate, timeout });
  const limits = { lines: config.BATCH_MAX_ITEMS, bodyBytes: config.BODY_LIMIT };
  const batchReader = { checkBodies: createCheckBodies(validator), limits };
  const submitBatch = createSubmitBatch({
    ...shared,
    ...batchReader,
    settle: settleAll,
    newLineIds: log.ids.ofLines,
    timeout: config.BATCH_TIMEOUT,
  });
  /** A push that nobody would apply is rejected before it is recorded. */
  const ifApplied =
    <Request extends unknown[], Result>(take: (...request: Request) => Promise<Result>) =>
    async (...request: Request): Promise<Result> => {
      checkPushes();
      return take(...request);
    };
  return {
    ...{ admit, checkBody, batchReader },
    submit: ifApplied(submit),
    submitBatch: ifApplied(submitBatch),
  };
}

if (require.main === module) runMain(() => startWeb({ env: process.env, ownsNode: true }));
