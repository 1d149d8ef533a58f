import { createServer } from 'node:net';
import { hasCode } from './error-code';

/** A port on which nobody listens at this moment. */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return listenOnce(0, host);
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

function listenOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const chosen = typeof address === 'object' && address ? address.port : port;
      server.close(() => resolve(chosen));
    });
  });
}
