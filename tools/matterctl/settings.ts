/**
 * The settings of a command, each found when the command needs it. Only this file and find-settings.ts read the
 * environment and DATA_DIR. Unlike the processes of the service (src/infra/config.ts), `matterctl` also finds the
 * addresses of an `npm start` that runs on this machine.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from '../../src/infra/config';
import type { Settings } from './tool';

/** The settings of this process. */
export const processSettings = (): Settings => createSettings(process.env, process.cwd());

/** @param cwd the folder to which a relative DATA_DIR refers first; the folder of the project is second */
export function createSettings(env: Environment, cwd: string): Settings {
  const root = projectRoot(__dirname);
  const dataDirs = [...new Set([cwd, root].map((at) => resolve(at, env.DATA_DIR || '.data')))];
  const here = { env, dataDirs };
  return {
    mongo: () => find().mongoOf(here),
    serviceUrl: () => find().serviceUrlOf(here),
    publicUrl: () => find().publicUrlOf(here),
    secretKeys: () => find().secretKeysOf(here),
    timeZone: () => find().timeZoneOf(here),
    concluded: () => find().concludedOf(here),
    queue: () => find().queueOf(here),
    version: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
  };
}

/** Loads find-settings.ts when a command needs its first setting. The help needs none. */
const find = (): typeof import('./find-settings') => require('./find-settings');

/** The folder of package.json. It is found from the sources and from dist/. */
function projectRoot(from: string): string {
  if (existsSync(join(from, 'package.json')) || dirname(from) === from) return from;
  return projectRoot(dirname(from));
}
