/** The body of a request is there for the handlers of its row, and for nobody after them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { createInFlight, koaRawBody } from '../../../src/http/body';
import type { RequestState } from '../../../src/http/request';

test.each([
  ['answers', 200, async () => undefined],
  ['fails', 500, async () => Promise.reject(new Error('broken'))],
])('a handler that %s has the bytes; then they are let go', async (_, status, work) => {
  const app = new Koa<RequestState>();
  app.on('error', () => undefined);
  const seen: RequestState[] = [];
  let text = '';
  const told: number[] = [];
  app.use((ctx, next) => {
    seen.push(ctx.state);
    return next();
  });
  app.use(
    koaRawBody(
      createInFlight(10, (inFlight) => told.push(inFlight)),
      100,
    ),
  );
  app.use(async (ctx) => {
    text = String(ctx.state.rawBody);
    await work();
    ctx.body = 'done';
  });
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{"a": 1}' });
  server.close();
  expect(answer.status).toBe(status);
  expect(text).toBe('{"a": 1}');
  expect(seen.map(({ rawBody }) => rawBody.length)).toEqual([0]);
  expect(told).toEqual([1, 0]);
});
