/** A whole installation for a run: servers behind proxies, and several processes of each type. */
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Connection } from 'mongoose';
import { createRedisKeys, type RedisKeys } from '../../src/queue/keys';
import { type Config, readConfig } from '../../src/runtime/config';
import { connectMongo } from '../../src/storage/mongo';
import { Releasers } from '../local/run-context';
import { allSettledOrThrow } from '../local/waiting';
import { type ClusterClient, fillDirectory } from './directory';
import { type AppGround, type ClusterWeb, type Ground, launchWeb, launchWorker } from './launch';
import type { Member } from './member';
import { type RedisPair, startRedisPair } from './redis-pair';
import { type ClusterSet, startSet } from './replica-set';

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
  /** Three members of the replica set and a second Redis, to fail over to; else one of each. */
  readonly failOver?: boolean;
  /** The database rejects killSessions, from the start on. */
  readonly rejectsKillSessions?: boolean;
  /** Milliseconds by which the clocks of processes are wrong, by name; below zero: slow. */
  readonly clockShifts?: ReadonlyMap<string, number>;
  readonly signal?: AbortSignal;
}

export interface Cluster {
  readonly webs: readonly ClusterWeb[];
  readonly workers: readonly Member[];
  readonly mongo: ClusterSet;
  readonly redis: RedisPair;
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
  const { failOver = false, rejectsKillSessions = false } = options;
  const mongo = await startSet(ground, { members: failOver ? 3 : 1, rejectsKillSessions });
  releasers.add(mongo.stop);
  const redis = await startRedisPair(ground, failOver ? 2 : 1);
  releasers.add(redis.stop);
  const envOf = environment(options, mongo, redis);
  const config = readConfig(envOf(''));
  const db = await connectMongo(mongo.url);
  releasers.add(() => db.close());
  const lookup = connectLookup(redis.url);
  releasers.add(() => lookup.disconnect());
  const clients = await fillDirectory(db, config);
  const apps = await startApps(
    options,
    { ...ground, envOf, drainMs: config.DRAIN_TIMEOUT },
    releasers,
  );
  const keys = createRedisKeys(config.REDIS_NAMESPACE);
  return { ...apps, mongo, redis, clients, config, db, lookup, keys, crashes };
}

/** @returns the environment of the process with a name */
function environment(
  { root, env, preload = [], clockShifts }: ClusterOptions,
  mongo: ClusterSet,
  redis: RedisPair,
): (name: string) => NodeJS.ProcessEnv {
  const harness = ['ways', 'clock'].map((file) =>
    join(root, 'dist/tools/chaos/preload', `${file}.js`),
  );
  const required = [...harness, ...preload].map((path) => `--require ${JSON.stringify(path)}`);
  const all = {
    ...process.env,
    NODE_OPTIONS: [process.env.NODE_OPTIONS ?? '', ...required].join(' ').trim(),
    CHAOS_WAYS: JSON.stringify(mongo.ways),
    // What it asks for must not count: a secondary that lags would answer with what was.
    MONGO_URL: `${mongo.url}&readPreference=secondaryPreferred`,
    REDIS_URL: redis.proxiedUrl,
    REDIS_NAMESPACE: 'chaos',
    SECRET_KEYS,
    HOST: '127.0.0.1',
    RATE_LIMIT: '0',
    DRAIN_DELAY: '0',
    LOG_LEVEL: 'warn',
    METRICS_PORT: '0',
    TRACING: 'off',
    ...env,
  };
  return (name) => ({ ...all, CHAOS_CLOCK_SHIFT: String(clockShifts?.get(name) ?? 0) });
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
