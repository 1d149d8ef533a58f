/** Heads of requests that Node's parser lets pass, and that another server might read otherwise. */
import type { IncomingMessage } from 'node:http';
import { headerValues } from '../auth/auth-headers';

/** The form that a proxy may send: scheme and host are of no meaning here. */
const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/**
 * Two servers that disagree about where a request ends, or where it goes, let one be hidden in
 * another. So what has two readings is no request.
 *
 * The target is left as path and query alone: its host need not be one that can be parsed.
 */
export function takeHead(req: IncomingMessage): boolean {
  const { httpVersion, rawHeaders } = req;
  const target = (req.url ?? '').replace(ABSOLUTE, '');
  req.url = target;
  const isPath = target.startsWith('/') && !target.includes('#');
  const hosts = headerValues(rawHeaders, 'host').length;
  const codings = headerValues(rawHeaders, 'transfer-encoding').map((it) => it.toLowerCase());
  // Of the codings of HTTP/1.1 only this one can be read here. HTTP/1.0 knows none.
  const isCoded = httpVersion === '1.1' && codings.join() === 'chunked';
  return (
    (isPath || target === '*') &&
    (httpVersion === '1.1' ? hosts === 1 : httpVersion === '1.0' && hosts <= 1) &&
    (codings.length === 0 || isCoded)
  );
}
