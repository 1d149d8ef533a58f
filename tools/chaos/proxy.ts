/** A way to a server that misbehaves on demand. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Conditions, type Link, linkSockets } from './link';
import { createThrottle } from './throttle';

export interface TcpProxy {
  readonly port: number;
  /** New connections go to the server on this port; those that there are stay with theirs. */
  setTarget(port: number): void;
  /** Every chunk is this many milliseconds late, both ways, in order. 0: none is. */
  setDelay(ms: number): void;
  /**
   * While it drops, connections stay and new ones are taken, but no byte gets through. When it
   * ends they are reset, and what was sent meanwhile is lost: as in a network that was away for
   * so long that a peer has given the connection up.
   */
  setDropping(on: boolean): void;
  /**
   * The connections that there are carry nothing any more and are never reset; new ones are fine:
   * as when a firewall on the way has forgotten them.
   */
  strand(): void;
  /** Both ways of all connections together, as one slow line; undefined: no bound. */
  throttle(bytesPerSecond: number | undefined): void;
  /** Resets all connections, towards both sides. */
  reset(): void;
  /**
   * Cuts every connection in the middle of what its client sends next, and one whose client sends
   * nothing for half a second as it is: afterwards none of them is left.
   */
  cutMidCommand(): Promise<void>;
  /** Nobody listens any more, and the connections are reset. */
  close(): void;
  /** Listens again, on the same port. */
  open(): Promise<void>;
}

/** What can happen on the way to a server, however many proxies it takes. */
export type Way = Pick<
  TcpProxy,
  'setDelay' | 'setDropping' | 'strand' | 'throttle' | 'reset' | 'cutMidCommand'
>;

/** The same happens to all of them; a bound on bytes is that of each. */
export function allWays(ways: readonly Way[]): Way {
  const each = (act: (way: Way) => void) => ways.forEach(act);
  return {
    setDelay: (ms) => each((way) => way.setDelay(ms)),
    setDropping: (on) => each((way) => way.setDropping(on)),
    strand: () => each((way) => way.strand()),
    throttle: (bytesPerSecond) => each((way) => way.throttle(bytesPerSecond)),
    reset: () => each((way) => way.reset()),
    cutMidCommand: async () => void (await Promise.all(ways.map((way) => way.cutMidCommand()))),
  };
}

/** Milliseconds for a client to send something that can be cut. */
const CUT_TIMEOUT = 500;

/** @returns it open, on a loopback port of its own */
export async function startProxy(targetPort: number, targetHost: string): Promise<TcpProxy> {
  const links = new Set<Link>();
  const net: Conditions = { delay: 0, throttle: createThrottle(() => performance.now()) };
  let target = targetPort;
  let dropping = false;
  let server: Server | undefined;

  const resetAll = () => {
    for (const link of links) link.reset();
  };
  const freezeAll = () => {
    for (const link of links) link.freeze();
  };
  const take = (client: Socket) => {
    const onward = connect({ port: target, host: targetHost, allowHalfOpen: true });
    const link = linkSockets(client, onward, net);
    links.add(link);
    void link.closed.then(() => links.delete(link));
    if (dropping) link.freeze();
  };
  const listen = async (port: number): Promise<number> => {
    const next = createServer({ allowHalfOpen: true }, take);
    server = next;
    next.listen(port, '127.0.0.1');
    await once(next, 'listening');
    return (next.address() as AddressInfo).port;
  };

  const port = await listen(0);
  return {
    port,
    setTarget: (next) => {
      target = next;
    },
    setDelay: (ms) => {
      net.delay = ms;
    },
    setDropping: (on) => {
      dropping = on;
      if (on) freezeAll();
      else resetAll();
    },
    strand: freezeAll,
    throttle: net.throttle.setRate,
    reset: resetAll,
    cutMidCommand: async () => {
      const cut = [...links];
      for (const link of cut) link.cutNext();
      await Promise.race([Promise.all(cut.map(({ closed }) => closed)), sleep(CUT_TIMEOUT)]);
      for (const link of cut) link.reset();
    },
    close: () => {
      server?.close();
      resetAll();
    },
    open: async () => void (await listen(port)),
  };
}
