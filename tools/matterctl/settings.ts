/**
 * The settings of a command, found when it asks for them. With find-settings.ts the tool's only reader
 * of the environment and of DATA_DIR: unlike the service's processes (src/runtime/config.ts) it runs
 * beside an `npm start` whose addresses nobody has typed, so it looks them up.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from '../../src/runtime/config';
import type { Settings } from './tool';

/** The settings of this process. */
export const processSettings = (): Settings => createSettings(process.env, process.cwd());

/** @param cwd the folder in which a relative DATA_DIR is looked for first */
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

/** Loaded with the first setting that a command asks for: help asks for none. */
const find = (): typeof import('./find-settings') => require('./find-settings');

/** The folder of package.json, from the sources as well as from dist/. */
function projectRoot(from: string): string {
  if (existsSync(join(from, 'package.json')) || dirname(from) === from) return from;
  return projectRoot(dirname(from));
}
