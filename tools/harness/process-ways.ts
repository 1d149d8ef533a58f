/** The connections of several processes to some servers: each process has its own proxy for each server. */
import { allWays, startProxy, type TcpProxy, type Way } from './proxy';

/** For a cluster whose processes share their proxies. */
const ONE_FOR_ALL = ['all'];

export class ProcessWays {
  private constructor(
    private readonly ports: readonly number[],
    /** By process; the proxies are in the order of the servers. */
    private readonly proxies: ReadonlyMap<string, readonly TcpProxy[]>,
  ) {}

  /**
   * @param ports of the servers, on the loopback address
   * @param processes names of processes with their own proxies; all share the same proxies if absent
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

  /** The connections of all processes. */
  get all(): Way {
    return allWays([...this.proxies.values()].flat());
  }

  /** The connections of one process. */
  of(name: string): Way {
    return allWays(this.proxiesOf(name));
  }

  /** @returns the port of the proxy of a process, by the port of the server. An unknown process uses any proxy */
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
    if (!proxies) throw new Error(`unknown process ${name}`);
    return proxies;
  }
}
