/** The contenders of the comparison, and how to start them on the shared servers. */

import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { readConfig } from '../../src/infra/config';
import { connectMongo } from '../../src/infra/mongo';
import { importUsers } from '../../src/storage/directory';
import { appEnvironment } from '../harness/app';
import { type DirectoryClient, fillDirectory } from '../harness/directory';
import { databaseUrl } from '../harness/servers';
import { type AppProcess, startApp } from '../local/app-process';
import { freePort } from '../local/ports';
import { allSettledOrThrow } from '../local/waiting';
import { usernamesIn } from './load/pushes';

interface Contender {
  /** The script of the web processes, relative to dist/. */
  readonly web: string;
  readonly worker?: string;
  /** Additional settings of its processes. */
  readonly env?: Readonly<Record<string, string>>;
  /** Replaces the load of the scenario. */
  readonly load?: { readonly connections: number; readonly lines: number };
}

const PEERS = 'tools/bench/peers';
const BULLMQ = { web: `${PEERS}/bullmq.js`, worker: `${PEERS}/bullmq.js` };

/** 8 connections, with 200 pushes per request. */
const BATCHES = { connections: 8, lines: 200 };

export const CONTENDERS = {
  'matter-push': { web: 'src/web.js', worker: 'workers/main.js' },
  /** The product, with batches. */
  batches: { web: 'src/web.js', worker: 'workers/main.js', load: BATCHES },
  /** bulkWrite of the driver with the same matters, without signature, validation, log and order. */
  'bulk-write': { web: `${PEERS}/bulk-write.js`, load: BATCHES },
  direct: { web: `${PEERS}/no-queue.js` },
  'bullmq-job': BULLMQ,
  'bullmq-shards': { ...BULLMQ, env: { SHARDS: '16' } },
  groupmq: { web: `${PEERS}/groupmq.js`, worker: `${PEERS}/groupmq.js` },
  'web-only': { web: `${PEERS}/no-queue.js`, env: { WRITES: 'off' } },
} as const satisfies Readonly<Record<string, Contender>>;
export type ContenderName = keyof typeof CONTENDERS;

export interface BenchGround {
  /** The project's folder. */
  readonly root: string;
  /** For logs. */
  readonly folder: string;
  readonly mongoUrl: string;
  readonly redisUrl: string;
  /** Additional settings of all processes. */
  readonly env?: Readonly<Record<string, string>>;
  /** The path of the file whose pushes the scenario `file-64` sends. */
  readonly file?: string;
}

export interface Size {
  readonly webs: number;
  readonly workers: number;
  /** Additional connections, which push one hot key and are not measured. */
  readonly hot?: number;
}

/** A started contender, with its own database and Redis namespace. */
export interface Running {
  readonly name: ContenderName;
  readonly ports: readonly number[];
  readonly client: DirectoryClient;
  /** Pids of its processes, by name. */
  readonly pids: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** @returns the load that replaces that of the scenario; undefined: the load of the scenario */
export const loadOf = (name: ContenderName): Contender['load'] => {
  const { load }: Contender = CONTENDERS[name];
  return load;
};

/** Another version of this project. It starts its own processes, because settings and stored documents can differ. */
export interface OtherBuild {
  readonly root: string;
  readonly start: typeof startContender;
}

/** @throws Error if the folder has no build with benchmarks */
export function otherBuildIn(folder: string): OtherBuild {
  const root = resolve(folder);
  const script = join(root, 'dist/tools/bench/contenders.js');
  if (!existsSync(script)) {
    throw new Error(`--against ${folder}: no build there. Run there: npm run bench -- --quick`);
  }
  const { startContender: start } = createRequire(script)(script);
  if (typeof start !== 'function') throw new Error(`--against ${folder}: that build is too old`);
  return { root, start };
}

let started = 0;

/**
 * Starts the processes of a contender.
 * @throws Error with the end of its log if a process does not start; the other processes are then stopped
 */
export async function startContender(
  name: ContenderName,
  ground: BenchGround,
  size: Size,
): Promise<Running> {
  started += 1;
  const id = `b${started}-${name}`;
  const mongoUrl = databaseUrl(ground.mongoUrl, id);
  const env = environment({ ...ground, mongoUrl }, id);
  const client = await prepare(env, ground.file);
  const common = { ...env, PEER_CLIENT: JSON.stringify(client) };
  const ports = await Promise.all(Array.from({ length: size.webs }, () => freePort()));
  const apps = new Map<string, AppProcess>();
  const stop = async () => {
    await allSettledOrThrow([...apps.values()].map((app) => app.stop()));
    await deleteData(mongoUrl, ground.redisUrl, id);
  };
  try {
    await allSettledOrThrow(
      processesOf(name, ports, size.workers).map(async (process) => {
        apps.set(process.role, await launch(process, { ...ground, id, env: common }));
      }),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const pids = Object.fromEntries([...apps].map(([role, { pid }]) => [role, pid]));
  return { name, ports, client, pids, stop };
}

function environment({ root, folder, mongoUrl, redisUrl, env }: BenchGround, id: string) {
  const counting = join(root, 'dist/tools/bench/peers/count-commands.js');
  return {
    ...appEnvironment({ mongoUrl, redisUrl, namespace: id }, [counting]),
    COMMAND_COUNTS: countsFolder(folder),
    ...env,
  };
}

/** The folder into which processes write their counts: see peers/count-commands.ts. */
export function countsFolder(folder: string): string {
  const into = join(folder, 'command-counts');
  mkdirSync(into, { recursive: true });
  return into;
}

interface Process {
  /** For example `web-0` or `worker-1`. */
  readonly role: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

function processesOf(name: ContenderName, ports: readonly number[], workers: number): Process[] {
  const { web, worker, env }: Contender = CONTENDERS[name];
  return [
    ...ports.map((port, n) => ({
      role: `web-${n}`,
      script: web,
      env: { ...env, ROLE: 'web', PORT: String(port) },
    })),
    ...(worker === undefined ? [] : Array.from({ length: workers }, () => worker)).map(
      (script, n) => ({ role: `worker-${n}`, script, env: { ...env, ROLE: 'worker' } }),
    ),
  ];
}

function launch(
  { role, script, env }: Process,
  ground: Pick<BenchGround, 'root' | 'folder'> & { id: string; env: NodeJS.ProcessEnv },
): Promise<AppProcess> {
  return startApp({
    name: role,
    script: join(ground.root, 'dist', script),
    env: { ...ground.env, ...env },
    logFile: join(ground.folder, `${ground.id}-${role}.log`),
    drainMs: 10_000,
  });
}

/**
 * Creates the collections and indexes of the product, its test users, its clients, and the users of the file.
 * @returns the first client
 */
async function prepare(env: NodeJS.ProcessEnv, file?: string): Promise<DirectoryClient> {
  const config = readConfig(env);
  const connection = await connectMongo(config.MONGO_URL);
  try {
    const [client] = await fillDirectory(connection, config);
    if (!client) throw new Error('no third party');
    const named = file === undefined ? [] : usernamesIn(file);
    await importUsers(
      connection,
      named.map((username) => ({ username, displayName: username })),
    );
    return client;
  } finally {
    await connection.close();
  }
}

/** Deletes the data of a contender, so that it does not slow down the next one. */
async function deleteData(mongoUrl: string, redisUrl: string, namespace: string): Promise<void> {
  const connection = await connectMongo(mongoUrl);
  try {
    await connection.dropDatabase();
  } finally {
    await connection.close();
  }
  const redis = new Redis(redisUrl);
  try {
    // The keys of other designs have different prefixes, but all contain the namespace.
    const keys = await redis.keys(`*${namespace}*`);
    for (let at = 0; at < keys.length; at += 1_000) await redis.unlink(keys.slice(at, at + 1_000));
  } finally {
    redis.disconnect();
  }
}
