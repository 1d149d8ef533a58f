/** Finds each setting in the environment, or in the files of a running `npm start`. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Config, type Environment, readConfig } from '../../src/infra/config';
import {
  isSettingSet,
  pickSetting,
  placeholdersFor,
  unsetSettings,
} from '../../src/infra/setting-files';
import { CommandFailure } from './failure';
import type { ChosenServer, QueueSettings } from './tool';

const ENDPOINTS = z.object({
  url: z.string(),
  mongoUrl: z.string(),
  redisUrl: z.string().optional(),
  pid: z.number().optional(),
});
type Endpoints = z.infer<typeof ENDPOINTS>;

/** Where this file looks for settings. */
interface Here {
  readonly env: Environment;
  /** Folders in which a running `npm start` may have written its addresses, the most likely one first. */
  readonly dataDirs: readonly string[];
}

// Each of the following functions finds one setting. It throws a CommandFailure if it does not find the setting.

/** The URL of the database, and where it was found. */
export function mongoOf({ env, dataDirs }: Here): ChosenServer {
  if (isSettingSet(env, 'MONGO_URL')) {
    const chosen = env.MONGO_URL ? 'from MONGO_URL' : 'from MONGO_URL_FILE';
    return { url: check(pickSetting(env, 'MONGO_URL')).MONGO_URL, chosen };
  }
  const running = firstOf(dataDirs, readEndpoints);
  if (running) return { url: running.mongoUrl, chosen: 'of the npm start that runs here' };
  throw new CommandFailure(
    `no MONGO_URL and ${nothingIn(dataDirs)}: run npm start, or set MONGO_URL or MONGO_URL_FILE`,
  );
}

/** The URL of the service that `npm start` runs. */
export function serviceUrlOf({ dataDirs }: Here): string {
  const running = firstOf(dataDirs, readEndpoints);
  if (running) return running.url;
  throw new CommandFailure(`no --url and ${nothingIn(dataDirs)}: run npm start, or give --url`);
}

/** The URL of the service for links. */
export function publicUrlOf({ env: { PUBLIC_URL }, dataDirs }: Here): string {
  const url = check({ PUBLIC_URL }).PUBLIC_URL || firstOf(dataDirs, readEndpoints)?.url;
  if (url) return url.replace(/\/+$/, '');
  throw new CommandFailure('no address for the link: give --url, or set PUBLIC_URL');
}

/** The encryption keys of client secrets. */
export function secretKeysOf({ env, dataDirs }: Here): readonly string[] {
  if (isSettingSet(env, 'SECRET_KEYS')) return check(pickSetting(env, 'SECRET_KEYS')).SECRET_KEYS;
  const keys = firstOf(dataDirs, readSecretKeys);
  if (keys) return check({ SECRET_KEYS: keys }).SECRET_KEYS;
  throw new CommandFailure(
    'no SECRET_KEYS: set it to the key ring of the service, or run npm start once, which makes one',
  );
}

/** The settings of the queue. */
export function queueOf({ env, dataDirs }: Here): QueueSettings {
  const others = { ...env, ...unsetSettings('MONGO_URL', 'SECRET_KEYS', 'OPERATOR_TOKEN') };
  if (isSettingSet(env, 'REDIS_URL')) return check(others);
  const REDIS_URL = firstOf(dataDirs, readEndpoints)?.redisUrl;
  if (REDIS_URL) return check({ ...others, REDIS_URL });
  throw new CommandFailure(
    `no REDIS_URL and ${nothingIn(dataDirs)}: run npm start, or set REDIS_URL`,
  );
}

/**
 * Names the folders, because an `npm start` with another DATA_DIR is found only if this command has the same DATA_DIR.
 */
const nothingIn = (dataDirs: readonly string[]) =>
  `nothing is running here (DATA_DIR: ${dataDirs.join(' and ')})`;

export function timeZoneOf({ env: { PORTAL_TIME_ZONE } }: Here): string {
  return check({ PORTAL_TIME_ZONE }).PORTAL_TIME_ZONE;
}

export function concludedOf({ env: { CONCLUDED_STATUSES } }: Here): ReadonlySet<string> {
  return new Set(check({ CONCLUDED_STATUSES }).CONCLUDED_STATUSES);
}

/**
 * Reads settings with the rules of the service. Placeholders replace required settings that are not set.
 *
 * @throws ConfigError
 */
const check = (environment: Environment): Config =>
  readConfig({ ...present(environment), ...placeholdersFor(environment) });

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

/** @returns the addresses of the running `npm start`; undefined if none runs, even if a killed one has left its file */
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
    // EPERM: the process runs, but another user owns it.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
