/** The HTTP surface: the four operations, the queries, health, and the envelope around them. */
import Router from '@koa/router';
import Koa from 'koa';
import { OPERATIONS } from '../domain/operation';
import type { HealthProbe } from './health';
import { type EnvelopeOptions, koaEnvelope, type RequestState } from './koa-envelope';
import { koaInFlight, koaLongUploads } from './koa-in-flight';
import { ORPHANS, type OrphansRouteDependencies, orphansRoute } from './orphans-route';
import { type PushRouteDependencies, pushRoute } from './push-route';
import { type QueryRoute, type QueryRouteDependencies, queryRoute } from './query-route';

/** Everything that third parties call lies under it (specification 1). */
export const OPEN_PATH = '/api/open';

export interface AppOptions {
  readonly envelope: EnvelopeOptions;
  readonly push: PushRouteDependencies;
  readonly query: QueryRouteDependencies;
  readonly queries: readonly QueryRoute[];
  readonly orphans: OrphansRouteDependencies;
  readonly health: HealthProbe;
  /** MAX_IN_FLIGHT */
  readonly maxInFlight: number;
}

export function createApp(options: AppOptions): Koa<RequestState> {
  const { envelope, push, query, queries, orphans, health, maxInFlight } = options;
  const app = new Koa<RequestState>();
  // Everything below the envelope middleware is rendered by it; what reaches Koa itself is a bug
  // or a connection that is gone.
  app.on('error', (error: Error) => envelope.logger.warn({ error: error.message }, 'koa error'));
  const router = new Router<RequestState>({ strict: true, sensitive: true });
  const bounded = koaInFlight(maxInFlight);
  for (const operation of OPERATIONS) {
    router.post(`${OPEN_PATH}/matters/${operation}`, bounded, pushRoute(operation, push));
  }
  for (const route of queries) {
    router.post(`${OPEN_PATH}/${route.name}`, bounded, queryRoute(route, query));
  }
  router.post(`${OPEN_PATH}/${ORPHANS}`, koaLongUploads(maxInFlight), orphansRoute(orphans));
  router.get('/healthz', (ctx) => {
    ctx.state.data = { status: 'alive' };
  });
  router.get('/readyz', async (ctx) => {
    ctx.state.data = await health.ready();
  });
  app.use(koaEnvelope(envelope));
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}
