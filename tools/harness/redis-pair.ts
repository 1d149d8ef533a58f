/** A Redis behind one address, with an optional replica for failovers. New connections go to the primary. */
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../local/ports';
import { startRedis } from '../local/servers';
import { allSettledOrThrow } from '../local/waiting';
import { type Ground, type Member, startMember } from './member';
import { ProcessWays } from './process-ways';
import { startProxy, type TcpProxy, type Way } from './proxy';

/** @param processes names of processes with their own proxies; all share the same proxies if absent */
export async function startRedisPair(
  ground: Ground,
  size: 1 | 2,
  processes?: readonly string[],
): Promise<RedisPair> {
  const servers = await allSettledOrThrow(
    Array.from({ length: size }, (_, number) => startOne(ground, number)),
  );
  const [primary, other] = servers as [Server, Server | undefined];
  if (other) await follow(other, primary);
  const looking = await startProxy(primary.port, '127.0.0.1');
  return new RedisPair(primary, other, await ProcessWays.open([primary.port], processes), looking);
}

/** `kill`, `restart` and `pid` apply to the current primary. */
export class RedisPair implements Member {
  readonly name = 'redis';
  /** To the current primary, without the proxies of the processes. */
  readonly url: string;
  /** REDIS_URL of the processes. Each process diverts its connections to its proxy, which connects to the primary. */
  readonly processUrl: string;
  /** Number of servers. */
  readonly size: number;

  constructor(
    private primary: Server,
    private other: Server | undefined,
    private readonly ways: ProcessWays,
    private readonly looking: TcpProxy,
  ) {
    this.url = urlOf(looking);
    this.processUrl = urlOf(primary);
    this.size = other ? 2 : 1;
  }

  get proxy(): Way {
    return this.ways.all;
  }

  wayOf(process: string): Way {
    return this.ways.of(process);
  }

  waysOf(process: string): Readonly<Record<string, number>> {
    return this.ways.portsOf(process);
  }

  /**
   * The replica becomes the primary. The old primary then follows it and loses the writes that were not replicated.
   * Existing connections stay with their server.
   *
   * @param meanwhile runs after the replication has ended, while the old primary still takes writes
   * @throws Error if a server does not answer
   */
  async failOver(meanwhile: () => Promise<void>): Promise<void> {
    const { primary, other } = this;
    if (!other) throw new Error('no second Redis for a failover');
    await send(other, 'REPLICAOF', 'NO', 'ONE');
    await meanwhile();
    [this.primary, this.other] = [other, primary];
    for (const way of [this.ways, this.looking]) way.setTarget(other.port);
    this.looking.reset();
    await follow(primary, other);
  }

  pid(): number | undefined {
    return this.primary.pid();
  }

  kill(signal: NodeJS.Signals): void {
    this.primary.kill(signal);
  }

  restart(): Promise<void> {
    return this.primary.restart();
  }

  async stop(): Promise<void> {
    this.ways.close();
    this.looking.close();
    await allSettledOrThrow([this.primary, ...(this.other ? [this.other] : [])].map(end));
  }
}

interface Server extends Member {
  readonly port: number;
}

const end = (server: Server) => server.stop();

async function startOne(ground: Ground, number: number): Promise<Server> {
  const port = await freePort();
  const name = `redis-${number}`;
  const logFile = join(ground.folder, 'logs', `${name}.log`);
  const options = { dir: join(ground.folder, name), port, logFile, signal: ground.signal };
  const launch = () => startRedis(options);
  return Object.assign(await startMember({ ...ground, name, logFile, launch }), { port });
}

async function follow(replica: Server, primary: Server): Promise<void> {
  // By default the primary waits for further replicas.
  await send(primary, 'CONFIG', 'SET', 'repl-diskless-sync-delay', '0');
  await send(replica, 'REPLICAOF', '127.0.0.1', String(primary.port));
}

/** Milliseconds for a command of the harness: the machine may stand still for some seconds. */
const TIMEOUT = 30_000;

async function send({ port }: Server, command: string, ...args: readonly string[]): Promise<void> {
  const redis = new Redis(urlOf({ port }), {
    connectTimeout: TIMEOUT,
    commandTimeout: TIMEOUT,
    maxRetriesPerRequest: 1,
  });
  // The failed command reports the error.
  redis.on('error', () => undefined);
  try {
    await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}

const urlOf = ({ port }: { readonly port: number }) => `redis://127.0.0.1:${port}/0`;
