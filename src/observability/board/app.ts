/** The HTTP surface of the board. Only what reads is there at all; every answer comes in time. */
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { withTimeout } from '../../concurrency/timeout';
import type { Logger } from '../../runtime/logger';
import { readBoardFiles } from './files';
import { renderPage } from './page';
import type { BoardParts } from './parts';

const METHODS = ['HEAD', 'GET'];
/** Milliseconds. Commands to Redis have a shorter one, each. */
const TIMEOUT = 5_000;

/** Everything comes from here. Its parts are placed by styles that its scripts write. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

export interface BoardOptions {
  /** Rejects where Redis does not answer. */
  readonly pingQueue: () => Promise<unknown>;
  readonly logger: Logger;
}

/** @param basePath where it lies */
export function createBoardApp(
  basePath: string,
  parts: BoardParts,
  { pingQueue, logger }: BoardOptions,
): Koa {
  const app = new Koa();
  // What reaches Koa itself is a bug or a connection that is gone.
  app.on('error', (error: Error) => logger.warn({ error: error.message }, 'queue board error'));
  app.use(koaReadOnly);
  app.use(koaFiles(basePath, parts));
  app.use(apiRouter(basePath, parts).routes());
  app.use(pageRouter(basePath, parts, pingQueue).routes());
  return app;
}

/** Nothing but looking. Bull Board's own way to say so comes behind this. */
const koaReadOnly: Middleware = async (ctx, next) => {
  ctx.set(HEADERS);
  if (METHODS.includes(ctx.method)) return next();
  ctx.set('Allow', METHODS.join(', '));
  ctx.status = 405;
  ctx.body = 'The board is read only\n';
};

function koaFiles(basePath: string, { staticPath, staticRoute }: BoardParts): Middleware {
  const files = readBoardFiles(staticPath, basePath + staticRoute);
  return async (ctx, next) => {
    const file = files.get(ctx.path);
    if (!file) return next();
    ctx.status = 200;
    ctx.type = file.extension;
    ctx.etag = file.etag;
    if (ctx.fresh) ctx.status = 304;
    else ctx.body = file.bytes;
  };
}

function apiRouter(basePath: string, parts: BoardParts): Router {
  const { queues, uiConfig, apiRoutes, errorHandler } = parts;
  const router = new Router({ prefix: basePath });
  for (const { method, route, handler } of apiRoutes) {
    if (![method].flat().includes('get')) continue;
    router.get(route, async (ctx) => {
      const { params, query } = ctx;
      const request = { queues, uiConfig, params, query, body: {}, headers: {} };
      const answering = Promise.resolve(request).then(handler);
      const answer = await withTimeout(answering, TIMEOUT).catch(errorHandler);
      ctx.status = answer.status ?? 200;
      ctx.body = answer.body;
    });
  }
  return router;
}

function pageRouter(
  basePath: string,
  parts: BoardParts,
  pingQueue: () => Promise<unknown>,
): Router {
  const router = new Router({ prefix: basePath });
  const page = renderPage(basePath, parts);
  const show = async (ctx: Context) => {
    try {
      await withTimeout(pingQueue(), TIMEOUT);
      ctx.type = 'html';
      ctx.body = page;
    } catch (error) {
      ctx.status = 503;
      ctx.body = `There is nothing to show: Redis does not answer (${error}).\n`;
    }
  };
  for (const route of [parts.entry.route].flat()) router.get(route, show);
  return router;
}
