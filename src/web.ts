/** Composition root of the web process: creates and connects the parts, and starts the HTTP server. */

import type { Reach } from './concurrency/reach';
import { systemClock as clock } from './concurrency/timing';
import { type AppOptions, createApp } from './http/app';
import { createHealth, type HealthProbe } from './http/health';
import { serve } from './http/server';
import { runMain } from './infra/lifecycle';
import { createDocument } from './openapi/served';
import {
  type ProcessBase,
  type ProcessOptions,
  type RunningProcess,
  startProcess,
} from './process';
import { hourIn } from './protocol/local-day';
import { createPushes, createRejectionLog, type Pushes } from './pushes/pushes';
import { createFindOrphans } from './queries/orphans';
import { createQueries } from './queries/queries';
import { createClientDirectory, createSecretUses, createUserDirectory } from './storage/directory';
import { createKeyRing, type KeyRing } from './storage/directory/sealing';
import { createMatterReader } from './storage/ledger';
import {
  createBodies,
  createFindMended,
  createLogLookups,
  createPushCounts,
  createPushLog,
} from './storage/push-log';
import { createIdSource } from './storage/push-log/request-id';
import { pathPrefixOf, pushSettings, readPages, selfSettings } from './web/settings';
import { createSettling, type WebSettling } from './web/settling';

export const startWeb = (options: ProcessOptions): Promise<RunningProcess> =>
  startProcess('web', options, createWeb);

async function createWeb(base: ProcessBase): Promise<{ readonly url: string }> {
  const { config, logger, mongo, metrics, tracing } = base;
  const log = createLog(base);
  const settling = await createSettling(base, log);
  const { database, health } = createHealth(base, settling.subscriber, settling.endWaiting);
  const keyRing = createKeyRing(config.SECRET_KEYS);
  const auth = createAuth(base, { log, keyRing, database, health });
  const pushes = createWebPushes(base, { log, settling, database, health });
  const matters = createMatterReader(mongo);
  const retention = config.PUSH_LOG_RETENTION;
  const settings = selfSettings(config);
  const { keyUses } = log.lookups;
  const pathPrefix = pathPrefixOf(config);
  const app = createApp({
    listeners: { clock, logger, metrics, counts: log.counts },
    always200: config.HTTP_STATUS_MODE === 'always-200',
    pathPrefix,
    auth,
    pushes,
    queries: createQueries({ mongo, matters, keyRing, keyUses, clock, retention, settings }),
    findOrphans: createFindOrphans(matters),
    database,
    health,
    document: createDocument(),
    pages: readPages(config),
    maxInFlight: config.MAX_IN_FLIGHT,
    settings: config,
    accessLog: config.LOG_REQUESTS === 'on',
    tracing,
  });
  const url = await serve(base, { handler: app.callback(), health, pathPrefix });
  base.heartbeat.start(() => ({
    work: { 'in flight': settling.inbox.size },
    defaultRate: config.RATE_LIMIT,
  }));
  logger.info({ url }, 'listening');
  return { url };
}

interface Parts {
  readonly log: ReturnType<typeof createLog>;
  readonly database: Reach;
  readonly health: HealthProbe;
}

function createLog({ config, logger, lifecycle, mongo, redisTime, metrics, tracing }: ProcessBase) {
  const keepBodies = config.PUSH_BODY_RETENTION > 0;
  const pushLog = createPushLog(mongo, { keepBodies, metrics, tracing, clock });
  const counts = createPushCounts(mongo, { logger, hourOf: hourIn(config.PORTAL_TIME_ZONE) });
  lifecycle.onDrain('counts', () => counts.stop());
  const lookups = createLogLookups(mongo);
  // Requests and batch lines must use the same source of ids: its counter makes the ids unique.
  const ids = createIdSource(redisTime.aheadOf);
  const rejections = createRejectionLog({ pushLog, clock, logger, counts, metrics });
  lifecycle.onDrain('rejection log', rejections.stop);
  return { pushLog, counts, logRejection: rejections.record, lookups, ids };
}

function createAuth(base: ProcessBase, parts: Parts & { keyRing: KeyRing }): AppOptions['auth'] {
  const { log, keyRing, health, database } = parts;
  const { config, logger, lifecycle, mongo, metrics } = base;
  const secretUses = lifecycle.run('secret uses', createSecretUses(mongo, clock, logger));
  return {
    clients: createClientDirectory(mongo, keyRing, clock, logger),
    database,
    logRejection: log.logRejection,
    noteUse: secretUses.note,
    checkReady: health.check,
    newRequestId: log.ids.ofRequest,
    clock,
    timeout: config.PUSH_TIMEOUT,
    metrics,
  };
}

function createWebPushes(base: ProcessBase, parts: Parts & { settling: WebSettling }): Pushes {
  const { log, settling, database, health } = parts;
  const { config, mongo, redis, keys, metrics, tracing } = base;
  return createPushes({
    settings: pushSettings(config),
    redis,
    keys,
    users: createUserDirectory(mongo, clock, tracing),
    pushLog: log.pushLog,
    lookups: log.lookups,
    bodies: createBodies(mongo),
    findMended: createFindMended(mongo, 'pending'),
    logRejection: log.logRejection,
    finalizer: settling.finalizer,
    database,
    queueAndWait: settling.queueAndWait,
    replyTo: settling.replyTo,
    newLineIds: log.ids.ofLines,
    checkReady: health.checkPushes,
    clock,
    metrics,
  });
}

if (require.main === module) runMain(() => startWeb({ env: process.env, ownsNode: true }));
