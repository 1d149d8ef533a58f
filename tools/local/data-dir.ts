import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './error-code';

const PRIVATE = 0o600;

/** What DATA_DIR/endpoints.json holds while npm start runs. */
export interface Endpoints {
  url: string;
  mongoUrl: string;
  redisUrl: string;
  /** Of the npm start that wrote it: a leftover of a killed one is told by its absence. */
  pid: number;
}

/** The key ring that seals client secrets, made on the first start in this folder. */
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

/** Written whole or not at all, since other processes read it at any time. */
export function writeEndpoints(dataDir: string, endpoints: Endpoints): void {
  const path = join(dataDir, 'endpoints.json');
  writeFileSync(`${path}.next`, `${JSON.stringify(endpoints, null, 2)}\n`, { mode: PRIVATE });
  renameSync(`${path}.next`, path);
}

export function removeEndpoints(dataDir: string): void {
  rmSync(join(dataDir, 'endpoints.json'), { force: true });
}
