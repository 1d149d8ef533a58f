/** A TCP proxy for a server, with faults. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../src/concurrency/timing';
import { type Conditions, Link, Throttle } from './link';

/** Starts a proxy on its own loopback port. */
export async function startProxy(targetPort: number, targetHost: string): Promise<TcpProxy> {
  const proxy = new TcpProxy(targetPort, targetHost);
  await proxy.open();
  return proxy;
}

/** While the proxy is closed, another connection may use its port for a moment: retry for 10 s. */
const OPEN_TRIES = 100;
const OPEN_EVERY = 100;
/** Milliseconds for a client to send a command that can be cut. */
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

  /** Listens on a new port the first time, later on the same port. */
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

  /** Stops listening and resets the connections. */
  close(): void {
    this.server?.close();
    this.reset();
  }

  /** While the proxy refuses, it does not listen, and existing connections are reset. */
  async setRefusing(on: boolean): Promise<void> {
    if (on) this.close();
    else if (!this.server?.listening) await this.open();
  }

  /** New connections go to the server on this port. Existing connections stay. */
  setTarget(port: number): void {
    this.target = port;
  }

  /** Delays every chunk in both directions, in order. */
  setDelay(ms: number): void {
    this.conditions.delay = ms;
  }

  /**
   * While the proxy drops, connections stay open and new ones are accepted, but no byte is forwarded. At the end they
   * are reset, and their data is lost, as after a long network outage.
   */
  setDropping(on: boolean): void {
    this.isDropping = on;
    if (on) this.strand();
    else this.reset();
  }

  /**
   * Existing connections forward nothing and are never reset, as if a firewall had forgotten them. New connections
   * work.
   */
  strand(): void {
    for (const link of this.links) link.freeze();
  }

  /** Limits both directions of all connections together; undefined: no limit. */
  throttle(bytesPerSecond: number | undefined): void {
    this.conditions.throttle.setRate(bytesPerSecond);
  }

  /** Resets all connections on both sides. */
  reset(): void {
    for (const link of this.links) link.reset();
  }

  /**
   * Cuts every connection inside the next command of its client. Connections whose clients send nothing are reset
   * after the timeout.
   *
   * @param timeout milliseconds
   */
  async cutMidCommand(timeout = CUT_TIMEOUT): Promise<void> {
    const cut = [...this.links];
    for (const link of cut) link.cutNext();
    // After the timeout the remaining connections are reset below.
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

/** The faults of the connections to a server, through one or several proxies. */
export type Way = Pick<
  TcpProxy,
  'setDelay' | 'setDropping' | 'setRefusing' | 'strand' | 'throttle' | 'reset' | 'cutMidCommand'
>;

/** Applies each fault to all of them. The limit of bytes applies to each one separately. */
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
