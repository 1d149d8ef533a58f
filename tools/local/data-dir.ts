import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './error-code';

const PRIVATE = 0o600;

/** The content of DATA_DIR/endpoints.json, which exists while `npm start` runs. */
export interface Endpoints {
  url: string;
  mongoUrl: string;
  redisUrl: string;
  /** Process id of `npm start`. If this process does not exist, the file is from a killed `npm start`. */
  pid: number;
}

/** The encryption key for client secrets. The first start in a folder creates it. */
export function ensureSecretKeys(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, 'secret-keys');
  try {
    writeFileSync(path, `k1:${randomBytes(32).toString('base64')}\n`, {
      flag: 'wx',
      mode: PRIVATE,
    });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  return readFileSync(path, 'utf8').trim();
}

/** Replaces the file in one step, because other processes may read it at any time. */
export function writeEndpoints(dataDir: string, endpoints: Endpoints): void {
  const path = join(dataDir, 'endpoints.json');
  writeFileSync(`${path}.next`, `${JSON.stringify(endpoints, null, 2)}\n`, { mode: PRIVATE });
  renameSync(`${path}.next`, path);
}

export function removeEndpoints(dataDir: string): void {
  rmSync(join(dataDir, 'endpoints.json'), { force: true });
}
