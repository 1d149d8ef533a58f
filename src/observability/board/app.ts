/**
 * The HTTP surface of the board. Bull Board's own servers would not do: they have its writing routes too, send
 * browsers to another host for fonts, and wait for Redis as long as it takes. Here is only what reads, all of
 * it comes from here, and every answer comes in time.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type {
  AppControllerRoute,
  AppViewRoute,
  BullBoardQueues,
  ControllerHandlerReturnType,
  IServerAdapter,
  UIConfig,
} from '@bull-board/api/typings/app';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { withTimeout } from '../../concurrency/timeout';
import { etagOf } from '../../protocol/etag';
import { foldedLog } from '../../runtime/folded-log';
import type { Logger } from '../../runtime/logger';

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
  const tell = foldedLog(logger);
  app.on('error', ({ message }: Error) => {
    tell({ level: 'warn', text: 'queue board error' }, { error: message });
  });
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

/** A script, style, image or text of the board, read once. */
interface BoardFile {
  readonly bytes: Buffer;
  /** With its dot. */
  readonly extension: string;
  readonly etag: string;
}

/** @returns by the path of the request, letter for letter: no request ever becomes the path of a file */
function readBoardFiles(folder: string, route: string): ReadonlyMap<string, BoardFile> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((it) =>
    it.isFile(),
  );
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      const bytes = readFileSync(file);
      const steps = path.relative(folder, file).split(path.sep);
      const found = { bytes, extension: path.extname(name), etag: etagOf(bytes) };
      return [[route, ...steps].join('/'), found];
    }),
  );
}

const PLACE = /<%[-=] *(\w+) *%>/g;
/** Fonts of another host; the style sheet names others for where they are not there. */
const FROM_ELSEWHERE = /<link\b[^>]*\bhref="https?:[^>]*>/g;

/**
 * @param basePath where the board lies
 * @throws Error where the template asks for more than it is given
 */
function renderPage(basePath: string, { entry, uiConfig, viewsPath }: BoardParts): string {
  const { name, params } = entry.handler({ basePath, uiConfig });
  const template = readFileSync(path.join(viewsPath, name), 'utf8');
  const page = template.replace(FROM_ELSEWHERE, '').replace(PLACE, (_place, key) => {
    const value = params[key];
    if (value === undefined) throw new Error(`the page of the queue board wants ${key}`);
    return value;
  });
  if (page.includes('<%')) throw new Error('the page of the queue board is no simple template');
  return page;
}

/** What Bull Board consists of, as it hands it to the server that shall show it. */
export interface BoardParts {
  readonly queues: BullBoardQueues;
  /** Folder of the page's template. */
  readonly viewsPath: string;
  /** Folder of scripts, styles, images and texts, and the path they are asked for at. */
  readonly staticPath: string;
  readonly staticRoute: string;
  readonly entry: AppViewRoute;
  readonly apiRoutes: readonly AppControllerRoute[];
  readonly uiConfig: UIConfig;
  readonly errorHandler: (error: Error) => ControllerHandlerReturnType;
}

/** @param build hands all parts to the adapter that it is given, before it returns */
export function collectParts(build: (adapter: IServerAdapter) => unknown): BoardParts {
  const parts: Partial<BoardParts> = {};
  const keep = (more: Partial<BoardParts>): IServerAdapter => {
    Object.assign(parts, more);
    return adapter;
  };
  const adapter: IServerAdapter = {
    setQueues: (queues) => keep({ queues }),
    setViewsPath: (viewsPath) => keep({ viewsPath }),
    setStaticPath: (staticRoute, staticPath) => keep({ staticRoute, staticPath }),
    setEntryRoute: (entry) => keep({ entry }),
    setErrorHandler: (errorHandler) => keep({ errorHandler }),
    setApiRoutes: (apiRoutes) => keep({ apiRoutes }),
    setUIConfig: (uiConfig) => keep({ uiConfig }),
  };
  build(adapter);
  return parts as BoardParts;
}
