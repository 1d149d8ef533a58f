/** Command line and commands of the `mongod` processes that `npm start` and tests run. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { mongo } from 'mongoose';

export const DATABASE = 'matter-push';
export const REPLICA_SET = 'rs0';
/** The folder for the data of `mongod` within the folder of the server. */
export const DATA_FOLDER = 'mongod';
const CONNECT_TIMEOUT_MS = 1_500;
const COMMAND_MS = 10_000;

/** Gigabytes for the cache. The default of `mongod` is half of the memory of the machine. */
const CACHE_GB = 0.5;
/** Megabytes for the oplog. The default of `mongod` is a twentieth of the disk. */
const OPLOG_MB = 512;

/** Settings of a `mongod`. */
export interface MongodSettings {
  /** Cache in gigabytes. A benchmark with much data needs more than the default. */
  readonly cacheSize?: number;
  /** Further parameters by their names in MongoDB. They override PARAMETERS. */
  readonly parameters?: Readonly<Record<string, string | number | boolean>>;
}

/** With the low limit, MongoDB soon ends transactions of killed processes, as docs/installation.md recommends. */
const PARAMETERS = {
  transactionLifetimeLimitSeconds: 5,
  // No tool reads the diagnostic data of these servers.
  diagnosticDataCollectionEnabled: false,
};

/** URL of one member of a replica set. The member answers even if it is not the primary. */
export function mongoUrl(port: number): string {
  return `mongodb://127.0.0.1:${port}/${DATABASE}?directConnection=true`;
}

/** The command line of a member of the replica set, on loopback only. */
export function mongodArgs(port: number, dir: string, settings: MongodSettings = {}): string[] {
  const { cacheSize = CACHE_GB, parameters } = settings;
  const data = join(dir, DATA_FOLDER);
  mkdirSync(data, { recursive: true });
  return [
    ...['--replSet', REPLICA_SET, '--bind_ip', '127.0.0.1', '--port', String(port)],
    ...['--dbpath', data, '--nounixsocket', '--oplogSize', String(OPLOG_MB)],
    ...['--wiredTigerCacheSizeGB', String(cacheSize)],
    // No log lines for each connection.
    '--quiet',
    ...Object.entries({ ...PARAMETERS, ...parameters }).flatMap(([name, value]) => [
      '--setParameter',
      `${name}=${value}`,
    ]),
  ];
}

/**
 * Runs a task on the `admin` database over a new connection. It loads the driver at the first call, while a server that
 * was just started is still starting.
 *
 * @param timeouts milliseconds; the defaults are short, because callers repeat a task that fails
 */
export async function withAdmin<T>(
  url: string,
  task: (db: mongo.Db) => Promise<T>,
  timeouts: { readonly connectMs?: number; readonly commandMs?: number } = {},
): Promise<T> {
  const { connectMs = CONNECT_TIMEOUT_MS, commandMs = COMMAND_MS } = timeouts;
  const { mongo } = await import('mongoose');
  const client = new mongo.MongoClient(url, {
    serverSelectionTimeoutMS: connectMs,
    connectTimeoutMS: connectMs,
    socketTimeoutMS: commandMs,
  });
  try {
    return await task(client.db('admin'));
  } finally {
    await client.close(true);
  }
}

/** Whether the member is the primary. @throws the driver's error if it does not answer */
export async function isWritable(db: mongo.Db): Promise<boolean> {
  return (await db.command({ hello: 1 })).isWritablePrimary === true;
}
