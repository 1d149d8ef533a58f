/** The HTTP surface: the four operations, health, and the envelope around all of them. */
import Router from '@koa/router';
import Koa from 'koa';
import { OPERATIONS } from '../domain/operation';
import type { HealthProbe } from './health';
import { type EnvelopeOptions, koaEnvelope, type RequestState } from './koa-envelope';
import { koaInFlight } from './koa-in-flight';
import { type PushRouteDependencies, pushRoute } from './push-route';

/** Base path of the contract (specification 1). */
export const BASE_PATH = '/api/open/matters';

export interface AppOptions {
  readonly envelope: EnvelopeOptions;
  readonly push: PushRouteDependencies;
  readonly health: HealthProbe;
  /** MAX_IN_FLIGHT */
  readonly maxInFlight: number;
}

export function createApp({ envelope, push, health, maxInFlight }: AppOptions): Koa<RequestState> {
  const app = new Koa<RequestState>();
  // Everything below the envelope middleware is rendered by it; what reaches Koa itself is a bug
  // or a connection that is gone.
  app.on('error', (error: Error) => envelope.logger.warn({ error: error.message }, 'koa error'));
  const router = new Router<RequestState>({ strict: true, sensitive: true });
  const bounded = koaInFlight(maxInFlight);
  for (const operation of OPERATIONS) {
    router.post(`${BASE_PATH}/${operation}`, bounded, pushRoute(operation, push));
  }
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
