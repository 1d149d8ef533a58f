/** Who is compared, and how each is started on the servers that all of them share. */

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
  /** Scripts of its processes. */
  readonly web: string;
  readonly worker?: string;
  /** Of its processes. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it is sent, where that is not what the scenario says. */
  readonly load?: { readonly connections: number; readonly lines: number };
}

const PEERS = 'tools/bench/peers';
const BULLMQ = { web: `${PEERS}/bullmq.js`, worker: `${PEERS}/bullmq.js` };

/** Requests under way, and pushes in each of them. */
const BATCHES = { connections: 8, lines: 200 };

export const CONTENDERS = {
  'matter-push': { web: 'src/web.js', worker: 'workers/main.js' },
  /** The same in batches. */
  batches: { web: 'src/web.js', worker: 'workers/main.js', load: BATCHES },
  /** The driver's bulkWrite of the same matters, without log, order, signature, or anything else. */
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
  /** Settings of all processes, besides the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** Pushes to send where a scenario is about those of a file: its path. */
  readonly file?: string;
}

export interface Size {
  readonly webs: number;
  readonly workers: number;
  /** Connections that push one hot key beside those that are measured. */
  readonly hot?: number;
}

/** Started, with a database and a Redis namespace of its own. */
export interface Running {
  readonly name: ContenderName;
  readonly ports: readonly number[];
  readonly client: DirectoryClient;
  /** Of its processes, by their names. */
  readonly pids: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** What a contender is sent, where that is not what its scenario says. */
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

/** @throws Error with the end of a log where a process does not start; nothing is left running */
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
    await forget(mongoUrl, ground.redisUrl, id);
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

/** The folder in which processes leave their counts: see peers/count-commands.ts. */
export function countsFolder(folder: string): string {
  const into = join(folder, 'command-counts');
  mkdirSync(into, { recursive: true });
  return into;
}

interface Process {
  /** `web-0`, `worker-1`. */
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

/** Collections and indexes of the product, its users and those that a file names, and one third party. */
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

/** What one leaves behind must cost nobody who comes after it. */
async function forget(mongoUrl: string, redisUrl: string, namespace: string): Promise<void> {
  const connection = await connectMongo(mongoUrl);
  try {
    await connection.dropDatabase();
  } finally {
    await connection.close();
  }
  const redis = new Redis(redisUrl);
  try {
    // The peers have prefixes of their own, made of the namespace.
    const keys = await redis.keys(`*${namespace}*`);
    for (let at = 0; at < keys.length; at += 1_000) await redis.unlink(keys.slice(at, at + 1_000));
  } finally {
    redis.disconnect();
  }
}
