/** Passes requests on to a service, and does to some answers what a proxy on the way may do. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Relayed {
  readonly path: string;
  readonly body: string;
  readonly status: number;
  readonly answer: string;
}

/** What becomes of an answer: it is passed on, cut in the middle, or held back for good. */
export type Fate = 'pass' | 'cut' | 'hold';

export interface Relay {
  readonly url: string;
  /** What went through, in the order of the service's answers. */
  readonly relayed: Relayed[];
  /** Awaited before a request is passed on, so that a later one can overtake it. */
  delay: () => Promise<void>;
  /** Asked once the service has answered. @param nth from 1, of all requests since `relayed` was emptied */
  fate: (one: Relayed, nth: number) => Fate;
  close(): Promise<void>;
}

/** @param target URL of the service */
export async function startRelay(target: string): Promise<Relay> {
  // It closes no idle connection: after a stall it would do that while a client sends on it.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    void pass(incoming, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const relay: Relay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    relayed: [],
    delay: async () => {},
    fate: () => 'pass',
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers, url: path = '' } = incoming;
    const body = await buffer(incoming);
    await relay.delay();
    const sent = request(target + path, { method, headers, agent: false });
    const [answered] = (await once(sent.end(body), 'response')) as [IncomingMessage];
    const bytes = await buffer(answered);
    const status = Number(answered.statusCode);
    const one = { path, body: String(body), status, answer: String(bytes) };
    const nth = relay.relayed.push(one);
    const fate = relay.fate(one, nth);
    if (fate === 'hold') return;
    response.writeHead(status, { ...answered.headers, 'content-length': bytes.length });
    if (fate === 'pass') response.end(bytes);
    else response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  }
  return relay;
}
