/**
 * Bodies that are still coming in, bounded in number and in bytes. Nobody knows yet who sends them,
 * so nobody can be rejected for them: over a bound the oldest is cut off. A usual body is there within
 * milliseconds, so that slow ones only take each other's room.
 */
import type { IncomingMessage } from 'node:http';

export interface Upload {
  /** @param bytes that arrived and are kept; may cut off the oldest upload, also this one */
  received(bytes: number): void;
  /** The body is there, or nobody waits for it any more. May be called again. */
  end(): void;
}

export interface Uploads {
  /** Takes in a request whose head is there; may cut off the connection of the oldest one. */
  begin(req: IncomingMessage): Upload;
}

export interface UploadsOptions {
  /** Uploads at a time. */
  readonly max: number;
  /** Bytes that they may keep together. */
  readonly bytes: number;
}

export function createUploads({ max, bytes }: UploadsOptions): Uploads {
  /** What each keeps, in bytes; the oldest first. */
  const kept = new Map<IncomingMessage, number>();
  let sum = 0;
  const forget = (req: IncomingMessage) => {
    sum -= kept.get(req) ?? 0;
    kept.delete(req);
  };
  const cutOldest = (): boolean => {
    for (const req of kept.keys()) {
      // All of it came, it only waits for its turn to be read.
      if (req.complete) continue;
      forget(req);
      req.socket.destroy();
      return true;
    }
    return false;
  };
  return {
    begin: (req) => {
      while (kept.size >= max && cutOldest());
      kept.set(req, 0);
      return {
        received: (more) => {
          const before = kept.get(req);
          if (before === undefined) return;
          kept.set(req, before + more);
          sum += more;
          while (sum > bytes && cutOldest());
        },
        end: () => forget(req),
      };
    },
  };
}
