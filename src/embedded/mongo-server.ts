import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { chosenProgram } from './project';
import { givenServer, type RunningServer, type ServerOptions, startServer } from './server';
import { untilReady } from './waiting';

const DATABASE = 'matter-push';
const REPLICA_SET = 'rs0';
const NOT_YET_INITIALIZED = 94;
const GIVEN_READY_MS = 15_000;

export interface MongoOptions extends ServerOptions {
  /** Memory of the embedded server, e.g. 8G, where a benchmark fills it. */
  readonly cacheSize?: string;
}

/**
 * Starts a MongoDB of our own that takes transactions.
 * Each program keeps its data in a folder of its own under `dir`: they cannot read each other's.
 */
export function startMongo(options: MongoOptions): Promise<RunningServer> {
  const program = options.program ?? chosenProgram('mongo');
  const ours = program.flavour === 'mongod';
  return startServer(
    {
      name: 'mongodb',
      program,
      url: mongoUrl,
      env: ours ? {} : SECANTUS_ENV,
      args: ours ? mongodArgs : (port, dir) => secantusArgs(port, dir, options.cacheSize),
      isReady: (port) => withAdmin(mongoUrl(port), (db) => isWritable(db, ours ? port : undefined)),
    },
    options,
  );
}

/** Takes a MongoDB that the user gave, once it accepts writes. */
export async function givenMongo(url: string, signal?: AbortSignal): Promise<RunningServer> {
  const server = givenServer('MongoDB', url);
  const problem = await untilReady({
    probe: () => withAdmin(url, (db) => isWritable(db)),
    exited: server.exited,
    deadlineMs: GIVEN_READY_MS,
    signal,
  });
  if (!problem) return server;
  throw new Error(`${server.describe} is not ready: ${problem}. Check MONGO_URL, or unset it.`);
}

function mongoUrl(port: number): string {
  return `mongodb://127.0.0.1:${port}/${DATABASE}?directConnection=true`;
}

// Nobody here follows its oplog, and from 25,000 pushes on pruning it takes as much as all the rest.
const SECANTUS_ENV = { SECANTUS_DISABLE_OPLOG: '1' };

// Without --sync-on-commit a SIGKILL loses acknowledged writes; with the default log size a
// restart takes many seconds. The empty file keeps it from looking for a configuration elsewhere.
function secantusArgs(port: number, dir: string, cacheSize = '512M'): string[] {
  const config = join(dir, 'empty.toml');
  writeFileSync(config, '');
  return [
    ...['--config', config, '--host', '127.0.0.1', '--port', String(port)],
    ...['--storage-path', join(dir, 'secantusd'), '--sync-on-commit'],
    ...['--cache-size', cacheSize, '--log-file-max', '128MB'],
  ];
}

function mongodArgs(port: number, dir: string): string[] {
  const data = join(dir, 'mongod');
  mkdirSync(data, { recursive: true });
  return [
    ...['--replSet', REPLICA_SET, '--bind_ip', '127.0.0.1', '--port', String(port)],
    ...['--dbpath', data, '--nounixsocket'],
  ];
}

async function withAdmin<T>(url: string, task: (db: mongo.Db) => Promise<T>): Promise<T> {
  const client = new mongo.MongoClient(url, {
    serverSelectionTimeoutMS: 1_500,
    connectTimeoutMS: 1_500,
  });
  try {
    return await task(client.db('admin'));
  } finally {
    await client.close(true);
  }
}

async function isWritable(db: mongo.Db, replicaPort?: number): Promise<boolean> {
  const hello = await db.command({ hello: 1 });
  if (hello.isWritablePrimary === true) return true;
  if (replicaPort !== undefined) await ensureReplicaSet(db, `127.0.0.1:${replicaPort}`);
  return false;
}

// The set's one member is known by its address, so another port needs another configuration.
async function ensureReplicaSet(db: mongo.Db, host: string): Promise<void> {
  const members = [{ _id: 0, host }];
  try {
    const { config } = await db.command({ replSetGetConfig: 1 });
    if (config.members[0]?.host === host) return;
    const next = { ...config, version: config.version + 1, members };
    await db.command({ replSetReconfig: next, force: true });
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError)) throw error;
    if (error.code !== NOT_YET_INITIALIZED) throw error;
    await db.command({ replSetInitiate: { _id: REPLICA_SET, members } });
  }
}
