/** Finds each setting: in the environment, or where a running `npm start` has left it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Config, type Environment, readConfig } from '../../src/runtime/config';
import { CommandFailure } from './failure';
import type { ChosenServer, QueueSettings } from './tool';

const ENDPOINTS = z.object({
  url: z.string(),
  mongoUrl: z.string(),
  redisUrl: z.string().optional(),
  pid: z.number().optional(),
});
type Endpoints = z.infer<typeof ENDPOINTS>;

/** Stand for what a command does not need; the rest is checked by the service's own rules. */
const STAND_INS = {
  MONGO_URL: 'mongodb://stand-in/stand-in',
  REDIS_URL: 'redis://stand-in',
  SECRET_KEYS: `stand-in:${'A'.repeat(43)}=`,
};

/** Where settings are looked for. */
interface Here {
  readonly env: Environment;
  /** Where a running `npm start` may have left its addresses, the likeliest first. */
  readonly dataDirs: readonly string[];
}

/** @throws CommandFailure where nothing tells */
export function mongoOf({ env: { MONGO_URL }, dataDirs }: Here): ChosenServer {
  if (MONGO_URL) return { url: check({ MONGO_URL }).MONGO_URL, chosen: 'from MONGO_URL' };
  const running = firstOf(dataDirs, readEndpoints);
  if (running) return { url: running.mongoUrl, chosen: 'of the npm start that runs here' };
  throw new CommandFailure(
    'no MONGO_URL and nothing is running here: run npm start, or set MONGO_URL',
  );
}

/** @throws CommandFailure where nothing tells */
export function serviceUrlOf({ dataDirs }: Here): string {
  const running = firstOf(dataDirs, readEndpoints);
  if (running) return running.url;
  throw new CommandFailure('no --url and nothing is running here: run npm start, or give --url');
}

/** @throws CommandFailure where nothing tells */
export function publicUrlOf({ env: { PUBLIC_URL }, dataDirs }: Here): string {
  const url = check({ PUBLIC_URL }).PUBLIC_URL || firstOf(dataDirs, readEndpoints)?.url;
  if (url) return url.replace(/\/+$/, '');
  throw new CommandFailure('no address for the link: give --url, or set PUBLIC_URL');
}

/** @throws CommandFailure where nothing tells */
export function secretKeysOf({ env, dataDirs }: Here): readonly string[] {
  const keys = env.SECRET_KEYS || firstOf(dataDirs, readSecretKeys);
  if (keys) return check({ SECRET_KEYS: keys }).SECRET_KEYS;
  throw new CommandFailure(
    'no SECRET_KEYS: set it to the key ring of the service, or run npm start once, which makes one',
  );
}

/** @throws CommandFailure where nothing tells */
export function queueOf({ env, dataDirs }: Here): QueueSettings {
  const { REDIS_URL = firstOf(dataDirs, readEndpoints)?.redisUrl } = env;
  if (REDIS_URL) return check({ ...env, MONGO_URL: undefined, SECRET_KEYS: undefined, REDIS_URL });
  throw new CommandFailure(
    'no REDIS_URL and nothing is running here: run npm start, or set REDIS_URL',
  );
}

export function timeZoneOf({ env: { PORTAL_TIME_ZONE } }: Here): string {
  return check({ PORTAL_TIME_ZONE }).PORTAL_TIME_ZONE;
}

export function concludedOf({ env: { CONCLUDED_STATUSES } }: Here): ReadonlySet<string> {
  return new Set(check({ CONCLUDED_STATUSES }).CONCLUDED_STATUSES);
}

/** The settings that are given, by the service's own rules. @throws ConfigError */
const check = (given: Environment): Config => readConfig({ ...STAND_INS, ...present(given) });

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
