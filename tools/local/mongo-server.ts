import type { mongo } from 'mongoose';
import { hasCode } from './error-code';
import {
  isWritable,
  type MongodSettings,
  mongodArgs,
  mongoUrl,
  REPLICA_SET,
  withAdmin,
} from './mongod';
import { chosenProgram } from './project';
import { externalServer, type RunningServer, type ServerOptions, startServer } from './server';
import { untilReady } from './waiting';

const NOT_YET_INITIALIZED = 94;
const GIVEN_READY_MS = 15_000;

export type MongoOptions = ServerOptions & MongodSettings;

/** Starts a MongoDB with one member as a replica set, because transactions need a replica set. */
export function startMongo(options: MongoOptions): Promise<RunningServer> {
  return startServer(
    {
      name: 'mongodb',
      program: options.program ?? chosenProgram('mongo'),
      url: mongoUrl,
      args: (port, dir) => mongodArgs(port, dir, options),
      isReady: (port) =>
        withAdmin(mongoUrl(port), async (db) => {
          if (await isWritable(db)) return true;
          await ensureReplicaSet(db, `127.0.0.1:${port}`);
          return false;
        }),
    },
    options,
  );
}

/** Uses the MongoDB of MONGO_URL. It waits until the server accepts writes. */
export async function externalMongo(url: string, signal?: AbortSignal): Promise<RunningServer> {
  const server = externalServer('MongoDB', url);
  const problem = await untilReady({
    probe: () => withAdmin(url, isWritable),
    exited: server.exited,
    deadlineMs: GIVEN_READY_MS,
    signal,
  });
  if (!problem) return server;
  throw new Error(`${server.describe} is not ready: ${problem}. Check MONGO_URL, or unset it.`);
}

// The configuration of a replica set contains the address of its member, so another port needs another configuration.
async function ensureReplicaSet(db: mongo.Db, host: string): Promise<void> {
  const members = [{ _id: 0, host }];
  try {
    const { config } = await db.command({ replSetGetConfig: 1 });
    if (config.members[0]?.host === host) return;
    const next = { ...config, version: config.version + 1, members };
    await db.command({ replSetReconfig: next, force: true });
  } catch (error) {
    if (!hasCode(error, NOT_YET_INITIALIZED)) throw error;
    await db.command({ replSetInitiate: { _id: REPLICA_SET, members } });
  }
}
