/** Who is compared, and how each is started on the servers that all of them share. */
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { readConfig } from '../../src/runtime/config';
import { importUsers } from '../../src/storage/directory/user-admin';
import { connectMongo } from '../../src/storage/mongo';
import type { ClusterClient } from '../chaos/directory';
import { fillDirectory } from '../chaos/directory';
import { type AppProcess, startApp } from '../local/app-process';
import { freePort } from '../local/ports';
import { allSettledOrThrow } from '../local/waiting';
import { countsFolder } from './commands';
import { usernamesIn } from './load/file-pushes';
import { SECRET_KEYS } from './service';

export const CONTENDERS = {
  'matter-push': { web: 'src/web.js', worker: 'workers/main.js' },
  direct: { web: 'tools/bench/peers/direct.js' },
  'bullmq-job': {
    web: 'tools/bench/peers/bullmq-job.js',
    worker: 'tools/bench/peers/bullmq-job.js',
  },
  'bullmq-shards': {
    web: 'tools/bench/peers/bullmq-shards.js',
    worker: 'tools/bench/peers/bullmq-shards.js',
  },
  groupmq: { web: 'tools/bench/peers/groupmq.js', worker: 'tools/bench/peers/groupmq.js' },
  'web-only': { web: 'tools/bench/peers/web-only.js' },
} as const;
export type ContenderName = keyof typeof CONTENDERS;

export interface Ground {
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
}

/** Started, with a database and a Redis namespace of its own. */
export interface Running {
  readonly name: ContenderName;
  readonly ports: readonly number[];
  readonly client: ClusterClient;
  /** Of its processes, by their names. */
  readonly pids: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

let started = 0;

/** @throws Error with the end of a log where a process does not start; nothing is left running */
export async function startContender(
  name: ContenderName,
  ground: Ground,
  { webs, workers }: Size,
): Promise<Running> {
  started += 1;
  const id = `b${started}-${name}`;
  const url = new URL(ground.mongoUrl);
  url.pathname = `/${id}`;
  const common = {
    ...process.env,
    ...{ MONGO_URL: url.href, REDIS_URL: ground.redisUrl, REDIS_NAMESPACE: id, SECRET_KEYS },
    ...{ HOST: '127.0.0.1', RATE_LIMIT: '0', DRAIN_DELAY: '0' },
    ...{ LOG_LEVEL: 'warn', METRICS_PORT: '0', TRACING: 'off' },
    NODE_OPTIONS: preloading(join(ground.root, 'dist/tools/bench/peers/count-commands.js')),
    COMMAND_COUNTS: countsFolder(ground.folder),
    ...ground.env,
  };
  const client = await prepare(common, ground.file);
  const { web, worker } = { worker: undefined, ...CONTENDERS[name] };
  const apps: AppProcess[] = [];
  const pids: Record<string, number> = {};
  const launch = async (role: string, script: string, env: NodeJS.ProcessEnv) => {
    const app = await startApp({
      name: role,
      script: join(ground.root, 'dist', script),
      env: { ...common, ...env, ROLE: role.split('-')[0], PEER_CLIENT: JSON.stringify(client) },
      logFile: join(ground.folder, `${id}-${role}.log`),
      drainMs: 10_000,
    });
    apps.push(app);
    pids[role] = app.pid;
  };
  const stop = async () => {
    await allSettledOrThrow(apps.map((app) => app.stop()));
    await forget(url.href, ground.redisUrl, id);
  };
  const ports = await Promise.all(Array.from({ length: webs }, freePort));
  try {
    await allSettledOrThrow([
      ...ports.map((port, n) => launch(`web-${n}`, web, { PORT: String(port) })),
      ...Array.from({ length: worker ? workers : 0 }, (_, n) =>
        launch(`worker-${n}`, String(worker), {}),
      ),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name, ports, client, pids, stop };
}

const preloading = (script: string) =>
  `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(script)}`.trim();

/** Collections and indexes of the product, its users and those that a file names, and one third party. */
async function prepare(env: NodeJS.ProcessEnv, file?: string): Promise<ClusterClient> {
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
