/** A folder for the data and the logs of a run, which goes with it, and single servers in one. */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Releasers } from '../local/run-context';
import { makeRunFolder } from '../local/run-folder';
import type { RunningServer } from '../local/server';
import { startMongo, startRedis } from '../local/servers';

/** One MongoDB and one Redis. */
export interface Servers {
  /** For data and logs; it goes with the servers. */
  readonly folder: string;
  readonly mongo: RunningServer;
  readonly redis: RunningServer;
  /** What the work starts on them is undone before they end. */
  readonly releasers: Releasers;
}

interface ServersOptions {
  /** Memory of the database in gigabytes, where it is filled. */
  readonly cacheSize?: number;
  readonly say: (text: string) => void;
}

/** The servers of a benchmark, for as long as its work takes. */
export async function withServers<T>(
  { cacheSize, say }: ServersOptions,
  work: (servers: Servers) => Promise<T>,
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
/** Of another name, since the next run removes the folders of this one. */
const KEPT = 'matter-push-logs-';

export interface FolderOptions {
  /** Told where the logs are, where they stay. */
  readonly say: (text: string) => void;
  /** A run that was given up has not failed. */
  readonly signal?: AbortSignal;
}

/**
 * A folder for as long as a piece of work takes; the logs in it stay where it failed.
 *
 * @param work may ask for the logs to be kept; they are, where it throws
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
    rmSync(folder, { recursive: true, force: true });
  }
}

function moveLogs(folder: string, say: (text: string) => void): void {
  const logs = join(folder, 'logs');
  if (!existsSync(logs)) return;
  const kept = mkdtempSync(join(tmpdir(), KEPT));
  renameSync(logs, join(kept, 'logs'));
  say(`The logs of the processes are in ${join(kept, 'logs')}`);
}
