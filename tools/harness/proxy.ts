/** A way to a server that misbehaves on demand. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../src/concurrency/timeout';
import { type Conditions, Link, Throttle } from './link';

/** @returns it open, on a loopback port of its own */
export async function startProxy(targetPort: number, targetHost: string): Promise<TcpProxy> {
  const proxy = new TcpProxy(targetPort, targetHost);
  await proxy.open();
  return proxy;
}

/** While it is closed its port may be that of another connection of this machine, for a moment: 10 s of tries. */
const OPEN_TRIES = 100;
const OPEN_EVERY = 100;
/** Milliseconds for a client to send something that can be cut. */
const CUT_TIMEOUT = 500;

export class TcpProxy {
  private readonly links = new Set<Link>();
  private readonly conditions: Conditions = { delay: 0, throttle: new Throttle() };
  private isDropping = false;
  private server: Server | undefined;
  private listensOn = 0;

  constructor(
    private target: number,
    private readonly host: string,
  ) {}

  get port(): number {
    return this.listensOn;
  }

  /** Listens, the first time on a port of its own, later on the same one again. */
  async open(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.listen();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries >= OPEN_TRIES)
          throw error;
        await sleep(OPEN_EVERY);
      }
    }
  }

  private async listen(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (client) => this.take(client));
    server.listen(this.listensOn, '127.0.0.1');
    await once(server, 'listening');
    this.server = server;
    this.listensOn = (server.address() as AddressInfo).port;
  }

  /** Nobody listens any more, and the connections are reset. */
  close(): void {
    this.server?.close();
    this.reset();
  }

  /** While it refuses, connections are reset and nobody listens. Resolves when that is so. */
  async setRefusing(on: boolean): Promise<void> {
    if (on) this.close();
    else if (!this.server?.listening) await this.open();
  }

  /** New connections go to the server on this port; those that there are stay with theirs. */
  setTarget(port: number): void {
    this.target = port;
  }

  /** Every chunk is this many milliseconds late, both ways, in order. 0: none is. */
  setDelay(ms: number): void {
    this.conditions.delay = ms;
  }

  /**
   * While it drops, connections stay and new ones are taken, but no byte gets through. When it
   * ends they are reset, and what was sent meanwhile is lost: as in a network that was away for
   * so long that a peer has given the connection up.
   */
  setDropping(on: boolean): void {
    this.isDropping = on;
    if (on) this.strand();
    else this.reset();
  }

  /**
   * The connections that there are carry nothing any more and are never reset; new ones are fine:
   * as when a firewall on the way has forgotten them.
   */
  strand(): void {
    for (const link of this.links) link.freeze();
  }

  /** Both ways of all connections together, as one slow line; undefined: no bound. */
  throttle(bytesPerSecond: number | undefined): void {
    this.conditions.throttle.setRate(bytesPerSecond);
  }

  /** Resets all connections, towards both sides. */
  reset(): void {
    for (const link of this.links) link.reset();
  }

  /**
   * Cuts every connection in the middle of what its client sends next, and one whose client sends
   * nothing for half a second as it is: afterwards none of them is left.
   *
   * @param timeout milliseconds in place of the half second
   */
  async cutMidCommand(timeout = CUT_TIMEOUT): Promise<void> {
    const cut = [...this.links];
    for (const link of cut) link.cutNext();
    // Where clients still send nothing, that is no failure: they are cut as they are.
    await withTimeout(Promise.all(cut.map(({ closed }) => closed)), timeout).catch(() => undefined);
    for (const link of cut) link.reset();
  }

  private take(client: Socket): void {
    const onward = connect({ port: this.target, host: this.host, allowHalfOpen: true });
    const link = new Link(client, onward, this.conditions);
    this.links.add(link);
    void link.closed.then(() => this.links.delete(link));
    if (this.isDropping) link.freeze();
  }
}

/** What can happen on the way to a server, however many proxies it takes. */
export type Way = Pick<
  TcpProxy,
  'setDelay' | 'setDropping' | 'setRefusing' | 'strand' | 'throttle' | 'reset' | 'cutMidCommand'
>;

/** The same happens to all of them; a bound on bytes is that of each. */
export function allWays(ways: readonly Way[]): Way {
  const each = (act: (way: Way) => void) => ways.forEach(act);
  return {
    setDelay: (ms) => each((way) => way.setDelay(ms)),
    setDropping: (on) => each((way) => way.setDropping(on)),
    setRefusing: async (on) => void (await Promise.all(ways.map((way) => way.setRefusing(on)))),
    strand: () => each((way) => way.strand()),
    throttle: (bytesPerSecond) => each((way) => way.throttle(bytesPerSecond)),
    reset: () => each((way) => way.reset()),
    cutMidCommand: async () => void (await Promise.all(ways.map((way) => way.cutMidCommand()))),
  };
}
