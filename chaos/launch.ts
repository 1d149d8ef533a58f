/** How the processes of a cluster are started, the first time and every other time. */
import { join } from 'node:path';
import { startApp } from '../src/embedded/app-process';
import { freePort } from '../src/embedded/ports';
import { startMongo, startRedis } from '../src/embedded/servers';
import { type Member, startMember } from './member';
import { startProxy, type TcpProxy } from './proxy';

export interface ClusterWeb extends Member {
  /** The same after every restart. */
  readonly url: string;
}

export interface ClusterServer extends Member {
  /** Past the proxy. */
  readonly url: string;
  /** The way that the processes take. */
  readonly proxiedUrl: string;
  readonly proxy: TcpProxy;
}

/** What every start needs. */
export interface Ground {
  /** The project's folder. */
  readonly root: string;
  /** For data and logs. */
  readonly folder: string;
  crashed(what: string): void;
  /** No new start after this. */
  readonly signal: AbortSignal;
}

export interface AppGround extends Ground {
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds. */
  readonly drainMs: number;
}

const SERVERS = { mongo: startMongo, redis: startRedis };

/** A server of our own on a port that it keeps, with the proxy before it. */
export async function launchServer(
  name: 'mongo' | 'redis',
  ground: Ground,
): Promise<ClusterServer> {
  const { folder, signal } = ground;
  const port = await freePort();
  const logFile = join(folder, 'logs', `${name}.log`);
  let url = '';
  const member = await startMember({
    ...ground,
    name,
    logFile,
    launch: async () => {
      const server = await SERVERS[name]({ dir: join(folder, name), port, logFile, signal });
      url = server.url;
      return server;
    },
  });
  const proxy = await startProxy(port, '127.0.0.1');
  const proxied = new URL(url);
  proxied.port = String(proxy.port);
  const stop = async () => {
    proxy.close();
    await member.stop();
  };
  return { ...member, stop, url, proxiedUrl: proxied.href, proxy };
}

/** An ingress on a port that it keeps. */
export async function launchWeb(name: string, ground: AppGround): Promise<ClusterWeb> {
  const port = await freePort();
  const env = { ...ground.env, PORT: String(port) };
  const member = await launchApp(name, 'dist/src/web.js', { ...ground, env });
  return { ...member, url: `http://127.0.0.1:${port}` };
}

export function launchWorker(name: string, ground: AppGround): Promise<Member> {
  return launchApp(name, 'dist/workers/main.js', ground);
}

function launchApp(name: string, script: string, ground: AppGround): Promise<Member> {
  const { root, folder, env, drainMs, signal } = ground;
  const logFile = join(folder, 'logs', `${name}.log`);
  const app = { name, script: join(root, script), env, logFile, drainMs, signal };
  return startMember({ ...ground, name, logFile, launch: () => startApp(app) });
}
