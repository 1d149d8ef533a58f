/** How a `mongod` of our own is run and asked, alone or as one of several. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { mongo } from 'mongoose';

export const DATABASE = 'matter-push';
export const REPLICA_SET = 'rs0';
/** Beneath a server's folder, for what the program itself writes. */
export const DATA_FOLDER = 'mongod';
const CONNECT_TIMEOUT_MS = 1_500;
const COMMAND_MS = 10_000;

/** Gigabytes; mongod's own default is half of the machine's memory. */
const CACHE_GB = 0.5;
/** Megabytes; mongod's own default is a twentieth of the disk. */
const OPLOG_MB = 512;

/** What a server of our own is set to, by the names of the server's parameters. */
export interface MongodSettings {
  /** Memory of the database in gigabytes, e.g. where a benchmark fills it. */
  readonly cacheSize?: number;
  /** More of the server's parameters, or others than ours, e.g. those that a test needs. */
  readonly parameters?: Readonly<Record<string, string | number | boolean>>;
}

/** The low limit frees soon what a killed process left open, as docs/operations.md asks of every server. */
const PARAMETERS = {
  transactionLifetimeLimitSeconds: 5,
  // Nobody reads its own measurements.
  diagnosticDataCollectionEnabled: false,
};

/** One member of a replica set; its replies tell its state, also while it is no primary. */
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
    // Connections that come and go are not worth a line.
    '--quiet',
    ...Object.entries({ ...PARAMETERS, ...parameters }).flatMap(([name, value]) => [
      '--setParameter',
      `${name}=${value}`,
    ]),
  ];
}

/**
 * Runs a task on the server's administration database, over a connection of its own. The driver is loaded
 * here, so that a server that was just started makes use of the time.
 */
export async function withAdmin<T>(url: string, task: (db: mongo.Db) => Promise<T>): Promise<T> {
  const { mongo } = await import('mongoose');
  const client = new mongo.MongoClient(url, {
    serverSelectionTimeoutMS: CONNECT_TIMEOUT_MS,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    socketTimeoutMS: COMMAND_MS,
  });
  try {
    return await task(client.db('admin'));
  } finally {
    await client.close(true);
  }
}

/** @throws what the driver says where nobody answers */
export async function isWritable(db: mongo.Db): Promise<boolean> {
  return (await db.command({ hello: 1 })).isWritablePrimary === true;
}
