import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { hasCode } from './error-code';

/**
 * Below what Linux and macOS give to outgoing connections (from 32,768 and from 49,152): one of those could take the
 * port before its server listens. Well-known ports of databases are below or above.
 */
const FIRST = 12_000;
const COUNT = 15_000;
const TRIES = 1_000;
/** Chosen by this process; their servers may not listen yet. */
const chosen = new Set<number>();

/**
 * A port on which nobody listens at this moment, another one at each call.
 * @throws Error where the host is wrong, or no port is found
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = FIRST + randomInt(COUNT);
    if (chosen.has(port)) continue;
    chosen.add(port);
    if (await isFree(port, host)) return port;
  }
  throw new Error(`No free port was found from ${FIRST} to ${FIRST + COUNT - 1}.`);
}

/** Whether a port can be listened on; false when it is taken, an error when the host is wrong. */
export async function isFree(port: number, host: string): Promise<boolean> {
  try {
    await listenOnce(port, host);
    return true;
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE')) return false;
    throw error;
  }
}

function listenOnce(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve()));
  });
}
