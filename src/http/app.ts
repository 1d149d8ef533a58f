/** The HTTP surface: the four operations, their dry run, the queries, health, the document, its page. */
import Router from '@koa/router';
import Koa from 'koa';
import { OPERATIONS } from '../domain/operation';
import { mostLines } from '../protocol/batch-lines';
import {
  ALIVE_PATH,
  BATCH,
  BATCH_PATH,
  DOCUMENT_PATH,
  ORPHANS,
  pushPath,
  QUERIES,
  type QueryName,
  queryPath,
  READY_PATH,
  VERIFY,
  VERIFY_BATCH,
} from '../protocol/paths';
import type { Admit } from '../pushes/admit';
import type { BatchReader } from '../pushes/read-batch';
import type { SubmitBatch } from '../pushes/submit-batch';
import type { SubmitPush } from '../pushes/submit-push';
import type { CheckBody } from '../pushes/validate-push';
import { foldedLog } from '../runtime/folded-log';
import type { Tracing } from '../telemetry/tracing';
import type { HealthProbe } from './health';
import { koaAccessLog } from './middleware/koa-access-log';
import { koaDrain } from './middleware/koa-drain';
import { koaError } from './middleware/koa-error';
import { type HmacAuthDependencies, koaHmacAuth } from './middleware/koa-hmac-auth';
import { koaInFlight, koaLongUploads } from './middleware/koa-in-flight';
import { koaRateLimit } from './middleware/koa-rate-limit';
import { koaRawBody } from './middleware/koa-raw-body';
import { koaRequestId, type NewRequestId } from './middleware/koa-request-id';
import { koaRespond } from './middleware/koa-respond';
import { koaStreamedHmacAuth } from './middleware/koa-streamed-hmac-auth';
import { koaTrace } from './middleware/koa-trace';
import type { PageFiles } from './page-files';
import type { PlainDocument, RequestState } from './request-state';
import { batchRoute, verifyBatchRoute } from './routes/batch-route';
import { koaDocsPage } from './routes/docs-page';
import { type OrphansRouteDependencies, orphansList, orphansRoute } from './routes/orphans-route';
import { pushRoute } from './routes/push-route';
import { type QueryRoute, type QueryRouteDependencies, queryRoute } from './routes/query-route';
import { verifyRoute } from './routes/verify-route';
import { createTellRejection, type Listeners } from './tell-rejection';
import type { Always200 } from './write-envelope';

export interface AppOptions {
  readonly listeners: Listeners;
  readonly newRequestId: NewRequestId;
  readonly always200: Always200;
  /** Path below which clients reach the service (PUBLIC_URL), for links; empty: the root. */
  readonly pathPrefix: string;
  /** Who may send a request. */
  readonly auth: HmacAuthDependencies;
  /** How often. */
  readonly admit: Admit;
  readonly submit: SubmitPush;
  readonly submitBatch: SubmitBatch;
  readonly checkBody: CheckBody;
  readonly batchReader: BatchReader;
  /** BATCH_BODY_LIMIT, bytes. */
  readonly batchBytes: number;
  readonly query: QueryRouteDependencies;
  /** Every query of the contract, and no other. */
  readonly queries: Readonly<Record<QueryName, QueryRoute>>;
  readonly orphans: OrphansRouteDependencies;
  readonly health: HealthProbe;
  /** What all of this looks like to a machine; asked for at each request of it. */
  readonly document: () => PlainDocument;
  /** The reference page; empty: there is none. */
  readonly docsFiles: PageFiles;
  /** MAX_IN_FLIGHT */
  readonly maxInFlight: number;
  /** BODY_LIMIT, bytes: of a push, and of what is verified with all that is around it. */
  readonly bodyLimit: number;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly tracing?: Tracing | undefined;
  /** LOG_REQUESTS: one line for each request. */
  readonly accessLog: boolean;
}

/** Milliseconds in which the body of a batch must arrive. */
const BATCH_UPLOAD_TIMEOUT = 30_000;

/** A request passes what is listed here from top to bottom, and its route's row from left to right. */
export function createApp(options: AppOptions): Koa<RequestState> {
  const { listeners, newRequestId, always200, pathPrefix, health, tracing } = options;
  const { clock, logger } = listeners;
  const tellRejection = createTellRejection(listeners);
  const router = createRouter(options);
  const app = new Koa<RequestState>();
  app.use(koaRequestId(clock, newRequestId));
  if (options.accessLog) app.use(koaAccessLog(logger));
  if (tracing) app.use(koaTrace(tracing));
  app.use(koaDrain(health.isLeaving));
  app.use(koaError({ clock, always200, tellRejection, pathPrefix }));
  app.use(koaRespond({ ...listeners, always200, tellRejection, pathPrefix }));
  app.use(router.routes());
  app.use(koaDocsPage(options.docsFiles));
  app.use(router.allowedMethods());
  // What reaches Koa itself is a bug or a connection that is gone.
  const tell = foldedLog(logger);
  app.on('error', (error: Error) => {
    tell({ level: 'warn', text: 'koa error' }, { error: error.message });
  });
  return app;
}

function createRouter(options: AppOptions): Router<RequestState> {
  const { auth, submit, checkBody, queries, health, maxInFlight, bodyLimit, timeout } = options;
  const router = new Router<RequestState>({ strict: true, sensitive: true });
  const inFlight = koaInFlight(maxInFlight, options.listeners.metrics?.inFlight);
  const body = koaRawBody(bodyLimit);
  const rateLimit = koaRateLimit(options.admit, timeout);
  for (const name of OPERATIONS) {
    router.post(pushPath(name), inFlight, body, koaHmacAuth(auth, name), pushRoute(name, submit));
  }
  const { batchReader, batchBytes, listeners } = options;
  const { limits } = batchReader;
  const batch = koaRawBody(batchBytes, BATCH_UPLOAD_TIMEOUT);
  const onBatch = batchRoute(options.submitBatch, limits, listeners);
  router.post(BATCH_PATH, inFlight, batch, koaHmacAuth(auth, BATCH), onBatch);
  const checkRoute = verifyRoute(checkBody, timeout);
  router.post(queryPath(VERIFY), inFlight, body, koaHmacAuth(auth, VERIFY), rateLimit, checkRoute);
  const verifyPath = queryPath(VERIFY_BATCH);
  const lineLimit = koaRateLimit(options.admit, timeout, ({ rawBody }) =>
    mostLines(rawBody, limits),
  );
  const onVerify = verifyBatchRoute(batchReader, timeout);
  router.post(verifyPath, inFlight, batch, koaHmacAuth(auth, VERIFY_BATCH), lineLimit, onVerify);
  for (const name of QUERIES) {
    const queryBody = koaRawBody(queries[name].bodyLimit);
    const route = queryRoute(queries[name], options.query);
    router.post(queryPath(name), inFlight, queryBody, koaHmacAuth(auth, name), rateLimit, route);
  }
  const list = koaStreamedHmacAuth(auth, orphansList());
  const uploads = koaLongUploads(maxInFlight);
  router.post(queryPath(ORPHANS), uploads, list, rateLimit, orphansRoute(options.orphans));
  router.get(ALIVE_PATH, (ctx) => {
    ctx.state.data = { status: 'alive' };
  });
  router.get(READY_PATH, async (ctx) => {
    ctx.state.data = await health.ready();
  });
  router.get(DOCUMENT_PATH, (ctx) => {
    ctx.state.document = options.document();
  });
  return router;
}
