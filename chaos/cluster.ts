/** A whole installation for a run: servers behind proxies, and several processes of each type. */
import { Redis } from 'ioredis';
import type { Connection } from 'mongoose';
import { type Config, readConfig } from '../src/config';
import { Releasers } from '../src/embedded/run-context';
import { allSettledOrThrow } from '../src/embedded/waiting';
import { connectMongo } from '../src/mongo';
import { createRedisKeys, type RedisKeys } from '../src/queue/keys';
import { type ClusterClient, fillDirectory } from './directory';
import {
  type AppGround,
  type ClusterServer,
  type ClusterWeb,
  type Ground,
  launchServer,
  launchWeb,
  launchWorker,
} from './launch';
import type { Member } from './member';

export interface ClusterOptions {
  /** The project's folder, with a build in dist/. */
  readonly root: string;
  /** For data and logs. */
  readonly folder: string;
  readonly webs: number;
  readonly workers: number;
  /** Settings of the processes; they override the cluster's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute paths of files that every web and worker loads before anything else. */
  readonly preload?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface Cluster {
  readonly webs: readonly ClusterWeb[];
  readonly workers: readonly Member[];
  readonly mongo: ClusterServer;
  readonly redis: ClusterServer;
  readonly clients: readonly ClusterClient[];
  /** What the processes run with. */
  readonly config: Config;
  /** For looking: straight to the servers, past the proxies. */
  readonly db: Connection;
  readonly lookup: Redis;
  readonly keys: RedisKeys;
  /** Ends that no fault brought about, each with the end of its log. */
  readonly crashes: readonly string[];
  /** Ends every process, the servers last. */
  stop(): Promise<void>;
}

const SECRET_KEYS = `chaos:${Buffer.alloc(32, 5).toString('base64')}`;

/** @throws Error with the end of a log where something does not start; nothing is left running */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, ...(options.signal ? [options.signal] : [])]);
  const releasers = new Releasers();
  const stop = async () => {
    stopping.abort();
    const failures: string[] = [];
    await releasers.run((text) => failures.push(text));
    if (failures.length > 0) throw new Error(failures.join('\n'));
  };
  try {
    return { ...(await startParts(options, signal, releasers)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(
  options: ClusterOptions,
  signal: AbortSignal,
  releasers: Releasers,
): Promise<Omit<Cluster, 'stop'>> {
  const { root, folder } = options;
  const crashes: string[] = [];
  const ground: Ground = { root, folder, signal, crashed: (what) => void crashes.push(what) };
  const mongo = await launchServer('mongo', ground);
  releasers.add(mongo.stop);
  const redis = await launchServer('redis', ground);
  releasers.add(redis.stop);
  const env = environment(options, mongo.proxiedUrl, redis.proxiedUrl);
  const config = readConfig(env);
  const db = await connectMongo(mongo.url);
  releasers.add(() => db.close());
  const lookup = connectLookup(redis.url);
  releasers.add(() => lookup.disconnect());
  const clients = await fillDirectory(db, config);
  const apps = await startApps(
    options,
    { ...ground, env, drainMs: config.DRAIN_TIMEOUT },
    releasers,
  );
  const keys = createRedisKeys(config.REDIS_NAMESPACE);
  return { ...apps, mongo, redis, clients, config, db, lookup, keys, crashes };
}

function environment(
  { env, preload = [] }: ClusterOptions,
  mongoUrl: string,
  redisUrl: string,
): NodeJS.ProcessEnv {
  const required = preload.map((path) => `--require ${JSON.stringify(path)}`);
  return {
    ...process.env,
    NODE_OPTIONS: [process.env.NODE_OPTIONS ?? '', ...required].join(' ').trim(),
    MONGO_URL: mongoUrl,
    REDIS_URL: redisUrl,
    REDIS_NAMESPACE: 'chaos',
    SECRET_KEYS,
    HOST: '127.0.0.1',
    RATE_LIMIT: '0',
    LOG_LEVEL: 'warn',
    METRICS_PORT: '0',
    TRACING: 'off',
    ...env,
  };
}

async function startApps(
  { webs, workers }: ClusterOptions,
  ground: AppGround,
  releasers: Releasers,
): Promise<Pick<Cluster, 'webs' | 'workers'>> {
  const running: Member[] = [];
  releasers.add(async () => void (await allSettledOrThrow(running.map((app) => app.stop()))));
  const several = <T extends Member>(count: number, launch: (n: number) => Promise<T>) =>
    allSettledOrThrow(
      Array.from({ length: count }, async (_, n) => {
        const app = await launch(n);
        running.push(app);
        return app;
      }),
    );
  const started = {
    webs: several(webs, (n) => launchWeb(`web-${n}`, ground)),
    workers: several(workers, (n) => launchWorker(`worker-${n}`, ground)),
  };
  // Both are waited for, so that nothing is still starting when a failure is cleaned up.
  await allSettledOrThrow<unknown>([started.webs, started.workers]);
  return { webs: await started.webs, workers: await started.workers };
}

/** Comes back by itself after its server was away. */
function connectLookup(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  // Told by whoever waits for an answer.
  redis.on('error', () => undefined);
  return redis;
}
