/** Creates the Koa app from the endpoint table. */
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Reach } from '../concurrency/reach';
import { runInSlices } from '../concurrency/turns';
import { OPERATIONS } from '../domain/operation';
import { foldedLog } from '../infra/folded-log';
import type { Tracing } from '../observability/tracing';
import { maxLineCount } from '../protocol/batch-lines';
import {
  ENDPOINTS,
  type Endpoint,
  type EndpointName,
  type EndpointSettings,
  QUERIES,
  type QueryName,
  timeoutOf,
} from '../protocol/endpoints';
import {
  ALIVE_PATH,
  BATCH,
  DOCUMENT_PATH,
  ORPHANS,
  READY_PATH,
  RESEND,
  VERIFY,
  VERIFY_BATCH,
} from '../protocol/paths';
import type { Pushes } from '../pushes/pushes';
import { createBulkhead } from '../queries/bulkhead';
import type { FindOrphans } from '../queries/orphans';
import type { AnswerQuery } from '../queries/signed-query';
import { type HmacAuthDependencies, koaAdmit, koaHmacAuth } from './authenticate';
import { createInFlight, koaRawBody } from './body';
import type { PageFiles, PlainDocument } from './documents';
import { createEndRequest, type Listeners } from './end-request';
import type { HealthProbe } from './health';
import { koaAccessLog, koaTrace } from './observe';
import { koaPages } from './pages';
import { koaRequest, type RequestState } from './request';
import { koaRespond } from './respond';
import { batchRoute, verifyBatchRoute } from './routes/batch';
import { createOrphansUpload, orphansRoute } from './routes/orphans';
import { pushRoute, verifyRoute } from './routes/push';
import { queryRoute } from './routes/query';
import { resendRoute } from './routes/resend';
import { koaLongUploads, koaStreamedHmacAuth } from './streamed-body';

export interface AppOptions {
  readonly listeners: Listeners;
  /** True if HTTP_STATUS_MODE is `always-200`. */
  readonly always200: boolean;
  /** The path of PUBLIC_URL; empty if PUBLIC_URL has no path. */
  readonly pathPrefix: string;
  readonly auth: HmacAuthDependencies;
  readonly pushes: Pushes;
  readonly queries: Readonly<Record<QueryName, AnswerQuery>>;
  readonly findOrphans: FindOrphans;
  readonly database: Pick<Reach, 'guard'>;
  readonly health: HealthProbe;
  readonly document: () => PlainDocument;
  /** Empty if the pages are off. */
  readonly pages: PageFiles;
  readonly maxInFlight: number;
  readonly settings: EndpointSettings;
  readonly tracing?: Tracing | undefined;
  readonly accessLog: boolean;
}

/** A handler or middleware rejects a request by throwing a `PushError`. */
export function createApp(options: AppOptions): Koa<RequestState> {
  const { listeners, auth, always200, pathPrefix, health, tracing } = options;
  const { clock, logger } = listeners;
  const end = createEndRequest(listeners);
  const router = createRouter(options);
  const app = new Koa<RequestState>();
  app.use(koaRequest(clock, auth.newRequestId));
  if (options.accessLog) app.use(koaAccessLog(logger));
  if (tracing) app.use(koaTrace(tracing));
  app.use(koaRespond({ clock, always200, end, pathPrefix, isLeaving: health.isLeaving }));
  app.use(router.routes());
  app.use(koaPages(options.pages));
  app.use(router.allowedMethods());
  // Koa emits `error` only for errors that `koaRespond` does not catch.
  const log = foldedLog(logger);
  app.on('error', (error: Error) => {
    log({ level: 'warn', text: 'koa error' }, { error: error.message });
  });
  return app;
}

function createRouter(options: AppOptions): Router<RequestState> {
  const router = new Router<RequestState>({ strict: true, sensitive: true });
  const handlers = createHandlers(options);
  const stepsOf = createEndpointSteps(options);
  for (const endpoint of ENDPOINTS) {
    router.post(endpoint.path, ...stepsOf(endpoint), handlers[endpoint.name]);
  }
  router.get(ALIVE_PATH, (ctx) => {
    ctx.state.data = { status: 'alive' };
  });
  router.get(READY_PATH, async (ctx) => {
    ctx.state.data = await options.health.ready();
  });
  router.get(DOCUMENT_PATH, (ctx) => {
    ctx.state.document = options.document();
  });
  return router;
}

/** Maximum concurrent queries of one system (`perKey`) and of all systems. */
const MAX_CONCURRENT_QUERIES = { perKey: 8, total: 32 };

/** Maximum concurrent resends of one client (`perKey`) and of all clients. */
const MAX_CONCURRENT_RESENDS = { perKey: 4, total: 8 };

type Handlers = Readonly<Record<EndpointName, Middleware<RequestState>>>;

function createHandlers(options: AppOptions): Handlers {
  const { auth, pushes, queries, findOrphans, database, settings } = options;
  const { submit, resend, checkBody, batchReader } = pushes;
  const { checkReady } = auth;
  const timeout = (name: EndpointName) => timeoutOf(name, settings);
  const handlers = {
    ...byName(OPERATIONS, (name) => pushRoute(name, submit)),
    [BATCH]: batchRoute(submit, batchReader.limits),
    [RESEND]: resendRoute(resend, createBulkhead(MAX_CONCURRENT_RESENDS)),
    [VERIFY]: verifyRoute(checkBody, timeout(VERIFY)),
    [VERIFY_BATCH]: verifyBatchRoute(batchReader, timeout(VERIFY_BATCH)),
    [ORPHANS]: orphansRoute({ find: findOrphans, checkReady, database, timeout: timeout(ORPHANS) }),
  };
  const queryDeps = { bulkhead: createBulkhead(MAX_CONCURRENT_QUERIES), database };
  const createQueryHandler = (name: QueryName) =>
    queryRoute(queries[name], queryDeps, timeout(name));
  return { ...handlers, ...byName(QUERIES, createQueryHandler) };
}

function createEndpointSteps({ auth, pushes, maxInFlight, settings, listeners }: AppOptions) {
  const { admit, batchReader } = pushes;
  const inFlight = createInFlight(maxInFlight, listeners.metrics?.inFlight);
  const uploads = koaLongUploads(maxInFlight);
  const { PUSH_TIMEOUT: timeout } = settings;
  /** Each key is a value of `rate` in the endpoint table. */
  const admissions = {
    // Empty, because `submit` and `resend` admit pushes and resends.
    push: [],
    request: [koaAdmit(admit, timeout)],
    lines: [
      koaAdmit(admit, timeout, ({ rawBody }) =>
        runInSlices(maxLineCount(rawBody, batchReader.limits)),
      ),
    ],
  };
  return ({ name, authentication, body, rate }: Endpoint) => {
    if (authentication === 'streamed') {
      return [uploads, koaStreamedHmacAuth(auth, createOrphansUpload()), ...admissions[rate]];
    }
    const { bytes, setting } = body.limit;
    const limit = setting ? settings[setting] : bytes;
    return [
      koaRawBody(inFlight, limit, body.uploadTimeout),
      koaHmacAuth(auth, name),
      ...admissions[rate],
    ];
  };
}

const byName = <Name extends string>(
  names: readonly Name[],
  create: (name: Name) => Middleware<RequestState>,
) =>
  Object.fromEntries(names.map((name) => [name, create(name)])) as Record<
    Name,
    Middleware<RequestState>
  >;
