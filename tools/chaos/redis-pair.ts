/**
 * A Redis behind one address, and where it is to fail over a second one that follows it: whoever is the
 * primary takes the new connections.
 */
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../local/ports';
import { startRedis } from '../local/servers';
import { allSettledOrThrow } from '../local/waiting';
import type { Ground } from './launch';
import { type Member, startMember } from './member';
import { startProxy, type TcpProxy } from './proxy';

/** Its `kill`, `restart` and `pid` are of the server that is the primary at the moment. */
export interface RedisPair extends Member {
  /** Past the proxy with the faults, to whoever is the primary. */
  readonly url: string;
  /** The way that the processes take. */
  readonly proxiedUrl: string;
  readonly proxy: TcpProxy;
  /** How many servers there are. */
  readonly size: number;
  /**
   * The other server becomes the primary, and this one follows it and forgets what that one never
   * had. Connections stay with the server that they were made to.
   *
   * @param meanwhile lasts while the new primary hears of no write any more and the old one still
   *   takes them
   * @throws Error where one of them does not answer
   */
  failOver(meanwhile: () => Promise<void>): Promise<void>;
}

interface Server extends Member {
  readonly port: number;
}

/** Milliseconds for a command of ours. */
const TIMEOUT = 5_000;

export async function startRedisPair(ground: Ground, size: 1 | 2): Promise<RedisPair> {
  const servers = await allSettledOrThrow(
    Array.from({ length: size }, (_, number) => startOne(ground, number)),
  );
  let [primary, other] = servers as [Server, Server | undefined];
  if (other) await follow(other, primary);
  const proxy = await startProxy(primary.port, '127.0.0.1');
  const looking = await startProxy(primary.port, '127.0.0.1');
  return {
    name: 'redis',
    url: urlOf(looking),
    proxiedUrl: urlOf(proxy),
    proxy,
    size,
    pid: () => primary.pid(),
    kill: (signal) => primary.kill(signal),
    restart: () => primary.restart(),
    failOver: async (meanwhile) => {
      if (!other) throw new Error('there is no second Redis to fail over to');
      await ask(other, 'REPLICAOF', 'NO', 'ONE');
      await meanwhile();
      [primary, other] = [other, primary];
      for (const way of [proxy, looking]) way.setTarget(primary.port);
      looking.reset();
      await follow(other, primary);
    },
    stop: async () => {
      proxy.close();
      looking.close();
      await allSettledOrThrow(servers.map((server) => server.stop()));
    },
  };
}

async function startOne(ground: Ground, number: number): Promise<Server> {
  const port = await freePort();
  const name = `redis-${number}`;
  const logFile = join(ground.folder, 'logs', `${name}.log`);
  const options = { dir: join(ground.folder, name), port, logFile, signal: ground.signal };
  const member = await startMember({
    ...ground,
    name,
    logFile,
    launch: () => startRedis(options),
  });
  return { ...member, port };
}

async function follow(replica: Server, primary: Server): Promise<void> {
  // It waits for more replicas to come, which there are none of.
  await ask(primary, 'CONFIG', 'SET', 'repl-diskless-sync-delay', '0');
  await ask(replica, 'REPLICAOF', '127.0.0.1', String(primary.port));
}

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
