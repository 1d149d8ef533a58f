/** The HTTP surface: the four operations, their dry run, the queries, health, the document, its page. */
import Router from '@koa/router';
import Koa from 'koa';
import { OPERATIONS } from '../domain/operation';
import {
  ALIVE_PATH,
  DOCUMENT_PATH,
  ORPHANS,
  pushPath,
  QUERIES,
  type QueryName,
  queryPath,
  READY_PATH,
  VERIFY,
} from '../protocol/paths';
import { foldedLog } from '../runtime/folded-log';
import type { Tracing } from '../telemetry/tracing';
import type { HealthProbe } from './health';
import { koaAccessLog } from './middleware/koa-access-log';
import {
  type EnvelopeOptions,
  koaEnvelope,
  type PlainDocument,
  type RequestState,
} from './middleware/koa-envelope';
import { koaInFlight, koaLongUploads } from './middleware/koa-in-flight';
import { koaTrace } from './middleware/koa-trace';
import type { DocsFiles } from './routes/docs-files';
import { koaDocsPage } from './routes/docs-page';
import { type OrphansRouteDependencies, orphansRoute } from './routes/orphans-route';
import { type PushRouteDependencies, pushRoute } from './routes/push-route';
import { type QueryRoute, type QueryRouteDependencies, queryRoute } from './routes/query-route';
import { type VerifyRouteDependencies, verifyRoute } from './routes/verify-route';

export interface AppOptions {
  readonly envelope: EnvelopeOptions;
  readonly push: PushRouteDependencies;
  readonly query: QueryRouteDependencies;
  /** Every query of the contract, and no other. */
  readonly queries: Readonly<Record<QueryName, Omit<QueryRoute, 'name'>>>;
  readonly orphans: OrphansRouteDependencies;
  readonly verify: VerifyRouteDependencies;
  readonly health: HealthProbe;
  /** What all of this looks like to a machine; asked for at each request of it. */
  readonly document: () => PlainDocument;
  /** The reference page; empty: there is none. */
  readonly docsFiles: DocsFiles;
  /** MAX_IN_FLIGHT */
  readonly maxInFlight: number;
  readonly tracing?: Tracing | undefined;
  /** LOG_REQUESTS: one line for each request. */
  readonly accessLog: boolean;
}

export function createApp(options: AppOptions): Koa<RequestState> {
  const { envelope, push, query, queries, orphans, verify } = options;
  const { health, document, docsFiles, maxInFlight, tracing, accessLog } = options;
  const app = new Koa<RequestState>();
  // Everything below the envelope middleware is rendered by it; what reaches Koa itself is a bug
  // or a connection that is gone.
  const tell = foldedLog(envelope.logger);
  app.on('error', (error: Error) => {
    tell({ level: 'warn', text: 'koa error' }, { error: error.message });
  });
  const router = new Router<RequestState>({ strict: true, sensitive: true });
  const bounded = koaInFlight(maxInFlight);
  for (const operation of OPERATIONS) {
    router.post(pushPath(operation), bounded, pushRoute(operation, push));
  }
  for (const name of QUERIES) {
    router.post(queryPath(name), bounded, queryRoute({ name, ...queries[name] }, query));
  }
  router.post(queryPath(VERIFY), bounded, verifyRoute(verify));
  router.post(queryPath(ORPHANS), koaLongUploads(maxInFlight), orphansRoute(orphans));
  router.get(ALIVE_PATH, (ctx) => {
    ctx.state.data = { status: 'alive' };
  });
  router.get(READY_PATH, async (ctx) => {
    ctx.state.data = await health.ready();
  });
  router.get(DOCUMENT_PATH, (ctx) => {
    ctx.state.document = document();
  });
  if (accessLog) app.use(koaAccessLog(envelope.logger));
  if (tracing) app.use(koaTrace(tracing));
  app.use(koaEnvelope(envelope));
  app.use(router.routes());
  app.use(koaDocsPage(docsFiles));
  app.use(router.allowedMethods());
  return app;
}
