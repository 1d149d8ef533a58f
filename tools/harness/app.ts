/** Starts the web and worker processes of a run with their settings and ports. */
import { join } from 'node:path';
import { startApp } from '../local/app-process';
import { freePort } from '../local/ports';
import { type Ground, type Member, startMember } from './member';

/** The servers of a process, and its namespace in Redis. */
interface AppServers {
  readonly mongoUrl: string;
  readonly redisUrl: string;
  readonly namespace: string;
}

/** Decrypts the secrets in the directory of a run. */
export const SECRET_KEYS = `harness:${Buffer.alloc(32, 5).toString('base64')}`;

/**
 * @param preload absolute paths of files that the process loads before anything else
 * @returns the environment of a process without rate limit, drain delay, metrics port and tracing
 */
export function appEnvironment(
  { mongoUrl, redisUrl, namespace }: AppServers,
  preload: readonly string[] = [],
): NodeJS.ProcessEnv {
  const required = preload.map((path) => `--require ${JSON.stringify(path)}`);
  return {
    ...process.env,
    NODE_OPTIONS: [process.env.NODE_OPTIONS ?? '', ...required].join(' ').trim(),
    MONGO_URL: mongoUrl,
    REDIS_URL: redisUrl,
    REDIS_NAMESPACE: namespace,
    SECRET_KEYS,
    HOST: '127.0.0.1',
    RATE_LIMIT: '0',
    DRAIN_DELAY: '0',
    LOG_LEVEL: 'warn',
    METRICS_PORT: '0',
    TRACING: 'off',
  };
}

/** A web process that only answers queries. */
interface LoneWeb {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param folder of its log */
export async function startLoneWeb(
  { root, folder }: Pick<Ground, 'root' | 'folder'>,
  servers: AppServers,
): Promise<LoneWeb> {
  const port = await freePort();
  const name = servers.namespace;
  const app = await startApp({
    name,
    script: join(root, WEB),
    env: { ...appEnvironment(servers), PORT: String(port), LOG_LEVEL: 'info' },
    logFile: join(folder, `${name}.log`),
    drainMs: 20_000,
  });
  return { url: `http://127.0.0.1:${port}`, stop: app.stop };
}

const WEB = 'dist/src/web.js';
const WORKER = 'dist/workers/main.js';

export interface WebMember extends Member {
  /** The same after every restart. */
  readonly url: string;
}

export interface AppGround extends Ground {
  /** Returns the environment of a process. */
  readonly envOf: (name: string) => NodeJS.ProcessEnv;
  /** Milliseconds. */
  readonly drainMs: number;
}

/** Starts a web process that keeps its port after restarts. */
export async function startWebMember(name: string, ground: AppGround): Promise<WebMember> {
  const port = await freePort();
  const envOf = (of: string) => ({ ...ground.envOf(of), PORT: String(port) });
  const member = await startAppMember(name, WEB, { ...ground, envOf });
  return Object.assign(member, { url: `http://127.0.0.1:${port}` });
}

export function startWorkerMember(name: string, ground: AppGround): Promise<Member> {
  return startAppMember(name, WORKER, ground);
}

function startAppMember(name: string, script: string, ground: AppGround): Promise<Member> {
  const { root, folder, envOf, drainMs, signal } = ground;
  const logFile = join(folder, 'logs', `${name}.log`);
  const app = { name, script: join(root, script), env: envOf(name), logFile, drainMs, signal };
  return startMember({ ...ground, name, logFile, launch: () => startApp(app) });
}
