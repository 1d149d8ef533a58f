/** Finds each setting: in the environment, or where a running `npm start` has left it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Config, type Environment, readConfig } from '../../src/runtime/config';
import { bothForms, isGiven, standInsFor, withoutForms } from '../../src/runtime/setting-files';
import { CommandFailure } from './failure';
import type { ChosenServer, QueueSettings } from './tool';

const ENDPOINTS = z.object({
  url: z.string(),
  mongoUrl: z.string(),
  redisUrl: z.string().optional(),
  pid: z.number().optional(),
});
type Endpoints = z.infer<typeof ENDPOINTS>;

/** Where settings are looked for. */
interface Here {
  readonly env: Environment;
  /** Where a running `npm start` may have left its addresses, the likeliest first. */
  readonly dataDirs: readonly string[];
}

/** @throws CommandFailure where nothing tells */
export function mongoOf({ env, dataDirs }: Here): ChosenServer {
  if (isGiven(env, 'MONGO_URL')) {
    const chosen = env.MONGO_URL ? 'from MONGO_URL' : 'from MONGO_URL_FILE';
    return { url: check(bothForms(env, 'MONGO_URL')).MONGO_URL, chosen };
  }
  const running = firstOf(dataDirs, readEndpoints);
  if (running) return { url: running.mongoUrl, chosen: 'of the npm start that runs here' };
  throw new CommandFailure(
    `no MONGO_URL and ${nothingIn(dataDirs)}: run npm start, or set MONGO_URL or MONGO_URL_FILE`,
  );
}

/** @throws CommandFailure where nothing tells */
export function serviceUrlOf({ dataDirs }: Here): string {
  const running = firstOf(dataDirs, readEndpoints);
  if (running) return running.url;
  throw new CommandFailure(`no --url and ${nothingIn(dataDirs)}: run npm start, or give --url`);
}

/** @throws CommandFailure where nothing tells */
export function publicUrlOf({ env: { PUBLIC_URL }, dataDirs }: Here): string {
  const url = check({ PUBLIC_URL }).PUBLIC_URL || firstOf(dataDirs, readEndpoints)?.url;
  if (url) return url.replace(/\/+$/, '');
  throw new CommandFailure('no address for the link: give --url, or set PUBLIC_URL');
}

/** @throws CommandFailure where nothing tells */
export function secretKeysOf({ env, dataDirs }: Here): readonly string[] {
  if (isGiven(env, 'SECRET_KEYS')) return check(bothForms(env, 'SECRET_KEYS')).SECRET_KEYS;
  const keys = firstOf(dataDirs, readSecretKeys);
  if (keys) return check({ SECRET_KEYS: keys }).SECRET_KEYS;
  throw new CommandFailure(
    'no SECRET_KEYS: set it to the key ring of the service, or run npm start once, which makes one',
  );
}

/** @throws CommandFailure where nothing tells */
export function queueOf({ env, dataDirs }: Here): QueueSettings {
  const others = { ...env, ...withoutForms('MONGO_URL', 'SECRET_KEYS', 'OPERATOR_TOKEN') };
  if (isGiven(env, 'REDIS_URL')) return check(others);
  const REDIS_URL = firstOf(dataDirs, readEndpoints)?.redisUrl;
  if (REDIS_URL) return check({ ...others, REDIS_URL });
  throw new CommandFailure(
    `no REDIS_URL and ${nothingIn(dataDirs)}: run npm start, or set REDIS_URL`,
  );
}

/** An `npm start` with another DATA_DIR is found only if this command has that setting, too. */
const nothingIn = (dataDirs: readonly string[]) =>
  `nothing is running here (DATA_DIR: ${dataDirs.join(' and ')})`;

export function timeZoneOf({ env: { PORTAL_TIME_ZONE } }: Here): string {
  return check({ PORTAL_TIME_ZONE }).PORTAL_TIME_ZONE;
}

export function concludedOf({ env: { CONCLUDED_STATUSES } }: Here): ReadonlySet<string> {
  return new Set(check({ CONCLUDED_STATUSES }).CONCLUDED_STATUSES);
}

/** The settings that are given, by the service's own rules. @throws ConfigError */
const check = (given: Environment): Config =>
  readConfig({ ...present(given), ...standInsFor(given) });

function present(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

function firstOf<T>(dirs: readonly string[], read: (dir: string) => T | undefined): T | undefined {
  for (const dir of dirs) {
    const found = read(dir);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @returns undefined where nothing runs; a file that a killed `npm start` left counts as nothing */
function readEndpoints(dataDir: string): Endpoints | undefined {
  const path = join(dataDir, 'endpoints.json');
  if (!existsSync(path)) return undefined;
  const { pid, ...endpoints } = ENDPOINTS.parse(JSON.parse(readFileSync(path, 'utf8')));
  return pid === undefined || isRunning(pid) ? endpoints : undefined;
}

function readSecretKeys(dataDir: string): string | undefined {
  const path = join(dataDir, 'secret-keys');
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process may not be signalled, but it runs.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
