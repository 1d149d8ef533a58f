/** A temporary folder for the data and logs of a run, and single servers in such a folder. */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Releasers } from '../local/run-context';
import { makeRunFolder } from '../local/run-folder';
import type { RunningServer } from '../local/server';
import { startMongo, startRedis } from '../local/servers';

/** One MongoDB and one Redis. */
export interface TestServers {
  /** For data and logs; removed with the servers. */
  readonly folder: string;
  readonly mongo: RunningServer;
  readonly redis: RunningServer;
  /** Released before the servers stop. */
  readonly releasers: Releasers;
}

interface ServersOptions {
  /** Cache of the database in GB. */
  readonly cacheSize?: number;
  readonly say: (text: string) => void;
}

/** Runs the servers of a benchmark during its work. */
export async function withServers<T>(
  { cacheSize, say }: ServersOptions,
  work: (servers: TestServers) => Promise<T>,
): Promise<T> {
  const releasers = new Releasers();
  try {
    const folder = makeRunFolder('matter-push-bench-');
    releasers.add(() => rmSync(folder, { recursive: true, force: true }));
    const cache = cacheSize === undefined ? {} : { cacheSize };
    const mongo = await startMongo({ dir: join(folder, 'mongodb'), ...cache });
    releasers.add(mongo.stop);
    const redis = await startRedis({ dir: join(folder, 'redis') });
    releasers.add(redis.stop);
    return await work({ folder, mongo, redis, releasers });
  } finally {
    await releasers.run(say);
  }
}

/** @returns the URL of another database of the same server */
export function databaseUrl(mongoUrl: string, name: string): string {
  const url = new URL(mongoUrl);
  url.pathname = `/${name}`;
  return url.href;
}

const FOLDER = 'matter-push-chaos-';
/** Different from FOLDER, because the next run removes folders with that name. */
const KEPT = 'matter-push-logs-';

export interface FolderOptions {
  /** Receives the path of the logs if they are kept. */
  readonly say: (text: string) => void;
  /** After its abort, a failure keeps no logs. */
  readonly signal?: AbortSignal;
}

/**
 * Creates a folder for some work and removes it afterwards.
 *
 * @param work may call `keepLogs`; the logs are also kept if it throws
 */
export async function inFolder<T>(
  { say, signal }: FolderOptions,
  work: (folder: string, keepLogs: () => void) => Promise<T>,
): Promise<T> {
  const folder = makeRunFolder(FOLDER);
  let isKept = false;
  const keepLogs = () => {
    isKept = true;
  };
  try {
    return await work(folder, keepLogs);
  } catch (error) {
    if (!signal?.aborted) keepLogs();
    throw error;
  } finally {
    if (isKept) moveLogs(folder, say);
    // A server that was just killed may still create a file.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function moveLogs(folder: string, say: (text: string) => void): void {
  const logs = join(folder, 'logs');
  if (!existsSync(logs)) return;
  const kept = mkdtempSync(join(tmpdir(), KEPT));
  renameSync(logs, join(kept, 'logs'));
  say(`The logs of the processes are in ${join(kept, 'logs')}`);
}
