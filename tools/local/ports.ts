import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { hasCode } from './error-code';

/**
 * The range of ports to choose from. It is below the ports that Linux and macOS use for outgoing connections (from
 * 32,768 and from 49,152). Such a connection could take the port before the server listens. Well-known ports of
 * databases are outside of it.
 */
const FIRST = 12_000;
const COUNT = 15_000;
const TRIES = 1_000;
/**
 * Each worker of jest has its own share of the ports. Otherwise two workers could choose the same port before one of
 * their servers listens.
 */
const SHARES = 8;
const ownShare = (): number => Number(process.env.JEST_WORKER_ID ?? 0) % SHARES;
/** Ports that this process has chosen. Their servers may not listen yet. */
const chosen = new Set<number>();

/**
 * Finds a port on which no process listens now. Each call returns another port.
 *
 * @throws Error if the host is wrong, or if no port is found
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = FIRST + randomInt(COUNT / SHARES) * SHARES + ownShare();
    if (chosen.has(port)) continue;
    chosen.add(port);
    if (await isFree(port, host)) return port;
  }
  throw new Error(`No free port was found from ${FIRST} to ${FIRST + COUNT - 1}.`);
}

/** Whether a process can listen on the port. @throws Error if the host is wrong */
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
