/** Composition root of the ingress: wires, listens, drains. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { systemClock } from './clock';
import { type Config, demoClientFile } from './config';
import { LINES_LIMIT, LIST_LIMIT } from './contract/limits';
import { OPEN_PATH } from './contract/paths';
import { createBodyParsers } from './contract/requests';
import { createClientDirectory } from './directory/clients';
import { createFindHeldSecrets } from './directory/held-secrets';
import { createKeyRing } from './directory/sealing';
import { createSecretUses } from './directory/secret-uses';
import { createUserDirectory } from './directory/users';
import { createRefusalDoctor } from './doctor/refusal-doctor';
import { createAcceptPush } from './ingress/accept-push';
import { createAdmit } from './ingress/admit';
import { createApp } from './ingress/app';
import { createBacklog } from './ingress/backlog';
import { type DocsFiles, readDocsFiles } from './ingress/docs-files';
import { createEndings } from './ingress/endings';
import { createHealthProbe } from './ingress/health';
import { listen } from './ingress/http-server';
import { watchLostReplies } from './ingress/lost-replies';
import { createRefusalLog, REFUSALS, SHED } from './ingress/refusal-log';
import { createSettlePush } from './ingress/settle-push';
import { createReadSignedRequest } from './ingress/signed-request';
import { createReadStreamedRequest } from './ingress/streamed-request';
import { createCheckBody, createValidatePush } from './ingress/validate-push';
import { createMatterReader } from './ledger/matter-reader';
import { announceReady, runMain } from './lifecycle';
import { isMongoReady, pingMongo } from './mongo';
import { oneAtATime } from './one-at-a-time';
import { createDocument } from './openapi/served';
import { startProcess } from './process';
import { createBodies } from './push-log/bodies';
import { createFinalize } from './push-log/finalize';
import { createPushLog } from './push-log/log';
import { createLogLookups } from './push-log/lookups';
import { createRequestIds } from './push-log/request-id';
import { createLogSearch } from './push-log/search';
import type { Settlement } from './push-log/settlement';
import { createAdmission } from './queue/admission';
import { createGroupQueue } from './queue/group-queue';
import { connectSubscriber, isRedisReady } from './queue/redis';
import { createReplyInbox } from './queue/replies';
import { createLogQuery } from './reconcile/log-query';
import { createMatterQueries } from './reconcile/matter-queries';
import { createFindOrphans } from './reconcile/orphans';
import { createSlots } from './reconcile/slots';
import { createSessions } from './sessions';

/** Of one system, and of all. */
const QUERIES_AT_A_TIME = { perKey: 8, total: 32 };
/** Milliseconds: a digest reads all matters of its window. */
const DIGEST_TIMEOUT = 60_000;
/** Milliseconds of work for what was wrong with one signature. */
const DIAGNOSIS_TIME = 100;
/** Seen from dist/src. */
const DOCS_FOLDER = path.join(__dirname, '../../public/docs');

async function main(): Promise<void> {
  const { config, logger, lifecycle, mongo, redis, keys, lanes, turns, metrics } =
    await startProcess('web');
  const clock = systemClock;
  const subscriber = connectSubscriber(config.REDIS_URL, logger);
  lifecycle.onStop('subscriber', () => subscriber.disconnect());
  const ingressId = randomBytes(6).toString('hex');
  const inbox = await createReplyInbox<Settlement>(subscriber, keys, ingressId, logger, metrics);
  const sessions = createSessions(mongo, logger);
  lifecycle.onStop('sessions', () => sessions.end());
  const pushLog = createPushLog(mongo, {
    keepBodies: config.PUSH_BODY_RETENTION > 0,
    commit: sessions.commitAnywhere,
    metrics,
  });
  const lookups = createLogLookups(mongo);
  lifecycle.onStop('lost replies', watchLostReplies(inbox, lookups, logger, metrics));

  const keyRing = createKeyRing(config.SECRET_KEYS);
  const clients = createClientDirectory(mongo, keyRing, clock, logger);
  const secretUses = createSecretUses(mongo, clock, logger);
  lifecycle.onStop('uses of secrets', () => secretUses.stop());
  const users = createUserDirectory(mongo, clock);
  const health = createHealthProbe({
    isDatabaseUp: () => isMongoReady(mongo),
    isQueueUp: () => isRedisReady(redis) && isRedisReady(subscriber),
    pingDatabase: () => pingMongo(mongo),
    pingQueue: () => redis.ping(),
  });
  const forRefusals = { pushLog, clock, logger };
  const logRefusal = createRefusalLog(forRefusals, REFUSALS);
  const logShed = createRefusalLog(forRefusals, SHED);
  const rates = { rate: config.RATE_LIMIT, burst: config.RATE_BURST };
  const admit = createAdmit(createAdmission(redis, keys), rates);
  const newRequestId = createRequestIds();
  const signed = {
    findClient: clients.find,
    logRefusal,
    noteUse: secretUses.note,
    checkReady: health.check,
    newRequestId,
    clock,
    timeout: config.PUSH_TIMEOUT,
    metrics,
  };
  const read = createReadSignedRequest(signed);
  const finalize = createFinalize(pushLog, lookups);
  const endings = createEndings({ finalize, ingressId, clock, logger });
  lifecycle.onStop('endings', () => endings.stop());
  const checkBody = createCheckBody({
    parsers: createBodyParsers({ timeZone: config.PORTAL_TIME_ZONE, clock }),
    concluded: new Set(config.CONCLUDED_STATUSES),
    clock,
    unknownUsers: users.unknown,
  });
  const accept = createAcceptPush({
    backlog: createBacklog({ timeout: config.PUSH_TIMEOUT, clock: () => performance.now() }),
    admit,
    validate: createValidatePush(checkBody),
    pushLog,
    lookups,
    logRefusal,
    logShed,
    settle: createSettlePush({
      queue: createGroupQueue(lanes, turns, logger, metrics),
      inbox,
      endings,
      ingressId,
      clock,
      logger,
    }),
    endings,
    clock,
    timeout: config.PUSH_TIMEOUT,
    replays: config.IDEMPOTENT_REPLAY === 'on',
    metrics,
  });
  const reader = createMatterReader(mongo);
  const timeZone = config.PORTAL_TIME_ZONE;
  const matters = createMatterQueries({ reader, timeZone, clock });
  const logQuery = createLogQuery({
    search: createLogSearch(mongo, clock),
    keyUses: lookups.keyUses,
    bodies: createBodies(mongo),
    diagnose: createRefusalDoctor(
      createFindHeldSecrets(mongo, keyRing),
      { time: DIAGNOSIS_TIME, clock: () => performance.now() },
      oneAtATime(),
    ),
    timeZone,
  });
  const app = createApp({
    envelope: {
      clock,
      newRequestId,
      // Load balancers know a status only, so health keeps its own.
      always200: (path) =>
        config.HTTP_STATUS_MODE === 'always-200' && path.startsWith(`${OPEN_PATH}/`),
      logger,
      metrics,
    },
    push: { read, accept, bodyLimit: config.BODY_LIMIT },
    query: { read, admit, slots: createSlots(QUERIES_AT_A_TIME), timeout: config.PUSH_TIMEOUT },
    queries: {
      'push-logs/query': { bodyLimit: config.BODY_LIMIT, answer: logQuery },
      'matters/get': { bodyLimit: LINES_LIMIT, answer: matters.get },
      'matters/query': { bodyLimit: config.BODY_LIMIT, answer: matters.query },
      'matters/diff': { bodyLimit: LINES_LIMIT, answer: matters.diff },
      'matters/digest': {
        bodyLimit: config.BODY_LIMIT,
        timeout: DIGEST_TIMEOUT,
        answer: matters.digest,
      },
    },
    orphans: {
      read: createReadStreamedRequest(signed),
      admit,
      find: createFindOrphans(reader),
      checkReady: health.check,
      bodyLimit: LIST_LIMIT,
      timeout: config.PUSH_TIMEOUT,
    },
    verify: {
      read,
      admit,
      checkBody,
      bodyLimit: config.BODY_LIMIT,
      timeout: config.PUSH_TIMEOUT,
    },
    health,
    document: createDocument(),
    docsFiles: docsFilesOf(config),
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

function docsFilesOf(config: Config): DocsFiles {
  if (config.DOCS_PAGE === 'off') return new Map();
  return readDocsFiles(DOCS_FOLDER, config.DOCS_DEMO === 'on' ? demoClientFile(config) : undefined);
}

runMain(main);
