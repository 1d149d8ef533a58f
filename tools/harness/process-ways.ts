/** The ways of several processes to some servers: each process has a proxy of its own before each server. */
import { allWays, startProxy, type TcpProxy, type Way } from './proxy';

/** Of a cluster whose processes are not told apart. */
const ONE_FOR_ALL = ['all'];

export class ProcessWays {
  private constructor(
    private readonly ports: readonly number[],
    /** By process, in the order of the servers. */
    private readonly proxies: ReadonlyMap<string, readonly TcpProxy[]>,
  ) {}

  /**
   * @param ports of the servers, on the loopback address
   * @param processes their names; one way for all of them where there are none
   */
  static async open(
    ports: readonly number[],
    processes: readonly string[] = ONE_FOR_ALL,
  ): Promise<ProcessWays> {
    const proxies = await Promise.all(
      processes.map(async (name) => {
        const own = ports.map((port) => startProxy(port, '127.0.0.1'));
        return [name, await Promise.all(own)] as const;
      }),
    );
    return new ProcessWays(ports, new Map(proxies));
  }

  /** Of all processes together. */
  get all(): Way {
    return allWays([...this.proxies.values()].flat());
  }

  /** Of one process. */
  of(name: string): Way {
    return allWays(this.proxiesOf(name));
  }

  /** By the port of a server, the port of the proxy of a process. A process of another name takes any of them. */
  portsOf(name: string): Readonly<Record<string, number>> {
    const proxies = this.proxies.has(name) ? this.proxiesOf(name) : this.anyProxies();
    return Object.fromEntries(this.ports.map((port, n) => [port, proxies[n]?.port ?? port]));
  }

  /** New connections of all processes go to another server. */
  setTarget(port: number): void {
    for (const proxy of [...this.proxies.values()].flat()) proxy.setTarget(port);
  }

  close(): void {
    for (const proxy of [...this.proxies.values()].flat()) proxy.close();
  }

  private anyProxies(): readonly TcpProxy[] {
    return [...this.proxies.values()][0] ?? [];
  }

  private proxiesOf(name: string): readonly TcpProxy[] {
    const proxies = this.proxies.get(name);
    if (!proxies) throw new Error(`no process is called ${name}`);
    return proxies;
  }
}
