/** The reference page at /docs: answers with the files that were read at the start, and no others. */
import type { Middleware } from 'koa';
import { PushError } from '../../protocol/errors';
import { DOCS_PATH } from '../../protocol/paths';
import type { RequestState } from '../request-state';
import type { DocsFiles } from './docs-files';

const METHODS = ['HEAD', 'GET'];

/**
 * Where the page is from paths beside it. Relative: before the service may stand a proxy that takes a
 * prefix away, and the files of the page are found by relative names too.
 */
const LEADS: ReadonlyMap<string, string> = new Map([
  ['/', DOCS_PATH.slice(1)],
  [`${DOCS_PATH}/`, `..${DOCS_PATH}`],
]);

/** A path is looked up letter for letter: nothing of a request ever becomes the path of a file. */
export function koaDocsPage(files: DocsFiles): Middleware<RequestState> {
  return async (ctx, next) => {
    const file = files.get(ctx.path);
    const location = files.size > 0 ? LEADS.get(ctx.path) : undefined;
    if (!file && location === undefined) return next();
    if (!METHODS.includes(ctx.method)) {
      ctx.set('Allow', METHODS.join(', '));
      throw new PushError('METHOD_NOT_ALLOWED');
    }
    if (file) ctx.state.document = file;
    else ctx.state.location = location;
  };
}
