import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { type Config, ConfigError, readConfig } from '../../src/runtime/config';
import { isGiven, standInsFor } from '../../src/runtime/setting-files';

/** What npm start itself needs to know; the processes that it starts read the rest. */
export interface StartSettings {
  host: string;
  /** 0 means: a free one. */
  port: number;
  dataDir: string;
  workers: number;
  /** Of web; the workers take the ports behind it. 0: none of them keeps metrics. */
  metricsPort: number;
  /** DRAIN_DELAY of web: nobody but its user is there to notice, unless it is set. */
  drainDelay: string;
  /** How long a web or worker process may take to drain. */
  drainMs: number;
  mongoUrl?: string;
  redisUrl?: string;
  secretKeys?: string;
  docsPage: 'on' | 'off';
  /** Whether the reference page has the demo client filled in. */
  docsDemo: 'on' | 'off';
}

const MOST_WORKERS = 64;
const OWN_DEFAULTS = { HOST: '127.0.0.1', DRAIN_DELAY: '0' };

/**
 * Reads and checks every setting, also those of the web and worker processes, before anything
 * is started: here an error is seen, in their logs it would have to be looked for.
 * @throws {ConfigError} with every problem at once
 */
export function readStartSettings(env: NodeJS.ProcessEnv, root: string): StartSettings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const config: Config = readConfig({ ...OWN_DEFAULTS, ...given, ...standInsFor(given) });
  return {
    host: config.HOST,
    port: config.PORT,
    metricsPort: config.METRICS_PORT,
    drainDelay: given.DRAIN_DELAY ?? OWN_DEFAULTS.DRAIN_DELAY,
    drainMs: config.DRAIN_TIMEOUT,
    workers: workerCount(given.WORKERS ?? '1'),
    dataDir: resolve(root, given.DATA_DIR ?? '.data'),
    mongoUrl: isGiven(given, 'MONGO_URL') ? config.MONGO_URL : undefined,
    redisUrl: isGiven(given, 'REDIS_URL') ? config.REDIS_URL : undefined,
    secretKeys: isGiven(given, 'SECRET_KEYS') ? config.SECRET_KEYS.join(',') : undefined,
    docsPage: config.DOCS_PAGE,
    docsDemo: given.DOCS_DEMO ? config.DOCS_DEMO : demoFor(config.HOST),
  };
}

/** Its secret is for who sits at this machine, not for the network. */
function demoFor(host: string): 'on' | 'off' {
  const isHere =
    host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
  return isHere ? 'on' : 'off';
}

function workerCount(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MOST_WORKERS) return count;
  throw new ConfigError(`WORKERS must be a whole number from 1 to ${MOST_WORKERS}, not "${text}".`);
}

/** Each process of one machine needs a port of its own: `web` takes the first, `worker-1` the next. */
export function metricsPortOf(first: number, name: string): number {
  const number = Number(/\d+$/.exec(name)?.[0] ?? 0);
  return first === 0 ? 0 : first + number;
}

/** The address to type into a browser or curl for a host and port that are listened on. */
export function urlFor(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
