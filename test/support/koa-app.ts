/** An app with the outer middlewares of the service, on a port of its own. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Middleware } from 'koa';
import { koaRequest, type RequestState } from '../../src/http/request';
import { koaRespond } from '../../src/http/respond';
import { createIdSource } from '../../src/storage/push-log/request-id';

export interface KoaApp {
  readonly port: number;
  stop(): Promise<void>;
}

/** @param inner what handles a request between its id and its answer, in this order */
export async function startKoaApp(
  answers: Parameters<typeof koaRespond>[0],
  ...inner: readonly Middleware<RequestState>[]
): Promise<KoaApp> {
  const app = new Koa<RequestState>();
  app.on('error', () => undefined);
  app.use(koaRequest(Date.now, createIdSource().ofRequest));
  app.use(koaRespond(answers));
  for (const middleware of inner) app.use(middleware);
  const server = createServer(app.callback());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
