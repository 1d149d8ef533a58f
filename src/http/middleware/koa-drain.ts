/** While this process goes, who keeps a connection alive shall find another one. */
import type { Middleware } from 'koa';

export function koaDrain(isLeaving: () => boolean): Middleware {
  return async (ctx, next) => {
    await next();
    if (isLeaving()) ctx.set('Connection', 'close');
  };
}
