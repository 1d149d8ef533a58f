/** The body as the bytes that were sent: bounded, undecoded, within the server's request timeout. */
import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { PushError } from '../errors';
import { headerValues } from './auth-headers';

/**
 * @param limit bytes
 * @throws PushError BODY_TOO_LARGE, UNSUPPORTED_ENCODING, or BODY_INCOMPLETE where the caller broke off
 */
export async function readRawBody(req: IncomingMessage, limit: number): Promise<Buffer> {
  const length = req.headers['content-length'];
  const body = await getRawBody(req, { limit, length: length ?? null }).catch((cause) => {
    throw new PushError(isTooLarge(cause) ? 'BODY_TOO_LARGE' : 'BODY_INCOMPLETE', { cause });
  });
  const encodings = headerValues(req.rawHeaders, 'content-encoding');
  if (encodings.some((encoding) => encoding.trim().toLowerCase() !== 'identity')) {
    throw new PushError('UNSUPPORTED_ENCODING');
  }
  return body;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'entity.too.large';
}
