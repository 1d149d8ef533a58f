import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { type Config, ConfigError, readConfig } from '../../src/infra/config';
import { isSettingSet, placeholdersFor } from '../../src/infra/setting-files';

/** The settings that `npm start` itself needs. The processes that it starts read all settings. */
export interface StartSettings {
  host: string;
  /** 0: a free port. */
  port: number;
  dataDir: string;
  workers: number;
  /** METRICS_PORT of `web`. The workers use the following ports. 0: no process has an internal port. */
  metricsPort: number;
  /** DRAIN_DELAY of `web`; 0 by default, because no load balancer has to notice the stop. */
  drainDelay: string;
  /** DRAIN_TIMEOUT in milliseconds. */
  drainMs: number;
  mongoUrl?: string;
  redisUrl?: string;
  secretKeys?: string;
  pages: 'on' | 'off';
  /** Whether the reference page shows the demo client and its secret. */
  docsDemo: 'on' | 'off';
}

const MAX_WORKERS = 64;
const OWN_DEFAULTS = { HOST: '127.0.0.1', DRAIN_DELAY: '0' };

/**
 * Reads and checks all settings before any process starts, including those of web and workers. So the user sees a
 * problem here and not in a log.
 *
 * @throws ConfigError with all problems
 */
export function readStartSettings(env: NodeJS.ProcessEnv, root: string): StartSettings {
  const nonEmpty = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const config: Config = readConfig({ ...OWN_DEFAULTS, ...nonEmpty, ...placeholdersFor(nonEmpty) });
  return {
    host: config.HOST,
    port: config.PORT,
    metricsPort: config.METRICS_PORT,
    drainDelay: nonEmpty.DRAIN_DELAY ?? OWN_DEFAULTS.DRAIN_DELAY,
    drainMs: config.DRAIN_TIMEOUT,
    workers: workerCount(nonEmpty.WORKERS ?? '1'),
    dataDir: resolve(root, nonEmpty.DATA_DIR ?? '.data'),
    mongoUrl: isSettingSet(nonEmpty, 'MONGO_URL') ? config.MONGO_URL : undefined,
    redisUrl: isSettingSet(nonEmpty, 'REDIS_URL') ? config.REDIS_URL : undefined,
    secretKeys: isSettingSet(nonEmpty, 'SECRET_KEYS') ? config.SECRET_KEYS.join(',') : undefined,
    pages: config.PAGES,
    docsDemo: nonEmpty.DOCS_DEMO ? config.DOCS_DEMO : demoFor(config.HOST),
  };
}

/** By default, the page shows the secret of the demo client only to users of this machine, not to the network. */
function demoFor(host: string): 'on' | 'off' {
  const isHere =
    host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
  return isHere ? 'on' : 'off';
}

function workerCount(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_WORKERS) return count;
  throw new ConfigError(`WORKERS must be a whole number from 1 to ${MAX_WORKERS}, not "${text}".`);
}

/** The internal port of a process: `web` uses the first one, `worker-1` the next one. */
export function metricsPortOf(first: number, name: string): number {
  const number = Number(/\d+$/.exec(name)?.[0] ?? 0);
  return first === 0 ? 0 : first + number;
}

/** The URL for a browser or curl, if a process listens on this host and port. */
export function urlFor(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
