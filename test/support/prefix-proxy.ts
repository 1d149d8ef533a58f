/** An HTTP proxy as it stands before a service: it takes a prefix off the path, and knows no other path. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PrefixProxy {
  readonly port: number;
  close(): Promise<void>;
}

/** @param prefix `/portal/push/` @param target the origin of the service */
export async function startPrefixProxy(prefix: string, target: string): Promise<PrefixProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer({ keepAliveTimeout: 0 }, (asked, answered) => {
    const { url = '', method, headers } = asked;
    if (!url.startsWith(prefix)) return void answered.writeHead(404).end('Not of this service');
    const path = url.slice(prefix.length - 1);
    const passed = request({ hostname, port, path, method, headers }, (answer) => {
      answered.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(answered);
    });
    passed.on('error', () => answered.destroy());
    // A page that is closed gives up its questions.
    answered.on('close', () => void passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
