/**
 * Bounds what one web process holds at the same time. A request first is an upload, which may be cut off
 * for a newer one; when its body is there it takes a place, or is answered 503 before any work. So
 * places are never held by who has not sent a request yet.
 */
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { PushError } from '../../protocol/errors';
import { createUploads } from '../uploads';

/**
 * Bytes of all unfinished bodies together; complete bodies of unanswered requests have the same bound, and so
 * have the bodies that wait in Redis.
 */
export const IN_FLIGHT_BYTES = 256 * 1024 * 1024;

/** What the reader of a body tells of it. */
export interface Arrival {
  /** @param bytes that are kept */
  received(bytes: number): void;
  /** The body is there. @throws PushError TOO_MANY_IN_FLIGHT or IN_FLIGHT_BYTES_FULL */
  complete(): void;
}

/** It goes with the request: between the middleware and the reader nobody has to pass it on. */
const arrivals = new WeakMap<IncomingMessage, Arrival>();

/** Of a request that came through `koaInFlight`. */
export const arrivalOf = (req: IncomingMessage): Arrival | undefined => arrivals.get(req);

/**
 * @param max MAX_IN_FLIGHT: requests whose bodies are there, and as many uploads
 * @param tell hears how many have a place, whenever that changes
 * @param bytes of either together
 */
export function koaInFlight(
  max: number,
  tell: (inFlight: number) => void = () => undefined,
  bytes = IN_FLIGHT_BYTES,
): Middleware {
  const uploads = createUploads({ max, bytes });
  let inFlight = 0;
  let held = 0;
  return async ({ req }, next) => {
    const upload = uploads.begin(req);
    let size = 0;
    let hasPlace = false;
    const received = (more: number) => {
      size += more;
      upload.received(more);
    };
    const complete = () => {
      upload.end();
      if (inFlight >= max) throw new PushError('TOO_MANY_IN_FLIGHT');
      if (held + size > bytes) throw new PushError('IN_FLIGHT_BYTES_FULL');
      inFlight += 1;
      tell(inFlight);
      held += size;
      hasPlace = true;
    };
    arrivals.set(req, { received, complete });
    try {
      await next();
    } finally {
      upload.end();
      if (hasPlace) {
        inFlight -= 1;
        tell(inFlight);
        held -= size;
      }
    }
  };
}

/**
 * For bodies that are not kept: only their uploads are bounded, apart from the others, because they
 * may well take minutes. What comes after has bounds of its own.
 *
 * @param max uploads at a time
 */
export function koaLongUploads(max: number): Middleware {
  const uploads = createUploads({ max, bytes: Number.POSITIVE_INFINITY });
  return async ({ req }, next) => {
    const upload = uploads.begin(req);
    req.once('end', upload.end);
    try {
      await next();
    } finally {
      upload.end();
    }
  };
}
