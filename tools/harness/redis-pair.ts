/**
 * A Redis behind one address, and where it is to fail over a second one that follows it: whoever is the
 * primary takes the new connections.
 */
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../local/ports';
import { startRedis } from '../local/servers';
import { allSettledOrThrow } from '../local/waiting';
import { type Ground, type Member, startMember } from './member';
import { ProcessWays } from './process-ways';
import { startProxy, type TcpProxy, type Way } from './proxy';

/** @param processes those that have a way of their own; all share one where it is not given */
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

/** Its `kill`, `restart` and `pid` are of the server that is the primary at the moment. */
export class RedisPair implements Member {
  readonly name = 'redis';
  /** Past the proxies with the faults, to the server that is the primary. */
  readonly url: string;
  /** As the processes have it; each is told its way, which leads to the server that is the primary. */
  readonly processUrl: string;
  /** How many servers there are. */
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
   * The other server becomes the primary, and this one follows it and forgets what that one never
   * had. Connections stay with the server that they were made to.
   *
   * @param meanwhile lasts while the new primary hears of no write any more and the old one still
   *   takes them
   * @throws Error where one of them does not answer
   */
  async failOver(meanwhile: () => Promise<void>): Promise<void> {
    const { primary, other } = this;
    if (!other) throw new Error('there is no second Redis to fail over to');
    await ask(other, 'REPLICAOF', 'NO', 'ONE');
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
  // It waits for more replicas to come, which there are none of.
  await ask(primary, 'CONFIG', 'SET', 'repl-diskless-sync-delay', '0');
  await ask(replica, 'REPLICAOF', '127.0.0.1', String(primary.port));
}

/** Milliseconds for a command of ours. */
const TIMEOUT = 5_000;

async function ask({ port }: Server, command: string, ...args: readonly string[]): Promise<void> {
  const redis = new Redis(urlOf({ port }), {
    connectTimeout: TIMEOUT,
    commandTimeout: TIMEOUT,
    maxRetriesPerRequest: 1,
  });
  // Told by the rejection of the command.
  redis.on('error', () => undefined);
  try {
    await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}

const urlOf = ({ port }: { readonly port: number }) => `redis://127.0.0.1:${port}/0`;
