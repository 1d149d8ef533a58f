/** The reference page at /docs: answers with the files that were read at the start, and no others. */
import type { Middleware } from 'koa';
import { PushError } from '../errors';
import type { DocsFiles } from './docs-files';
import type { RequestState } from './koa-envelope';

const METHODS = ['HEAD', 'GET'];

/** A path is looked up letter for letter: nothing of a request ever becomes the path of a file. */
export function koaDocsPage(files: DocsFiles): Middleware<RequestState> {
  return async (ctx, next) => {
    const file = files.get(ctx.path);
    if (!file) return next();
    if (!METHODS.includes(ctx.method)) {
      ctx.set('Allow', METHODS.join(', '));
      throw new PushError('METHOD_NOT_ALLOWED');
    }
    ctx.state.document = file;
  };
}
