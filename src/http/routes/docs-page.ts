/** The reference page at /docs, and the console: answers with the files that were read at the start, and no others. */
import type { Middleware } from 'koa';
import { PushError } from '../../protocol/errors';
import { CONSOLE_PATH, DOCS_PATH } from '../../protocol/paths';
import type { PageFiles } from '../page-files';
import type { RequestState } from '../request-state';

const METHODS = ['HEAD', 'GET'];

/**
 * Where the page is from paths beside it. Relative: before the service may stand a proxy that takes a
 * prefix away, and the files of the page are found by relative names too.
 */
const LEADS: ReadonlyMap<string, { readonly page: string; readonly location: string }> = new Map([
  ['/', { page: DOCS_PATH, location: DOCS_PATH.slice(1) }],
  [`${DOCS_PATH}/`, { page: DOCS_PATH, location: `..${DOCS_PATH}` }],
  [`${CONSOLE_PATH}/`, { page: CONSOLE_PATH, location: `..${CONSOLE_PATH}` }],
]);

/** A path is looked up letter for letter: nothing of a request ever becomes the path of a file. */
export function koaDocsPage(files: PageFiles): Middleware<RequestState> {
  return async (ctx, next) => {
    const found = files.get(ctx.path);
    const file = found?.isServedFor?.(ctx.headers.host) === false ? undefined : found;
    const lead = LEADS.get(ctx.path);
    const location = lead && files.has(lead.page) ? lead.location : undefined;
    if (!file && location === undefined) return next();
    if (!METHODS.includes(ctx.method)) {
      ctx.set('Allow', METHODS.join(', '));
      throw new PushError('METHOD_NOT_ALLOWED');
    }
    if (file) ctx.state.document = file;
    else ctx.state.location = location;
  };
}
