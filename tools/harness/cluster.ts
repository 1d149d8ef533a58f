/** A whole installation for a run: servers behind proxies, and several processes of each type. */

import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Connection } from 'mongoose';
import { createRedisKeys, type RedisKeys } from '../../src/queue/keys';
import { connectBlocking, type RedisConnection } from '../../src/queue/redis';
import { type Config, readConfig } from '../../src/runtime/config';
import { createLogger } from '../../src/runtime/logger';
import { connectMongo } from '../../src/storage/mongo';
import { Releasers } from '../local/run-context';
import { allSettledOrThrow } from '../local/waiting';
import {
  type AppGround,
  appEnvironment,
  startWebMember,
  startWorkerMember,
  type WebMember,
} from './app';
import { type DirectoryClient, fillDirectory } from './directory';
import type { Ground, Member } from './member';
import { namesOf } from './process-names';
import { type RedisForm, type RedisServers, startRedisServers } from './redis-group';
import { type ClusterSet, startSet } from './replica-set';
import { type FolderOptions, inFolder } from './servers';
import { eitherSignal } from './stopping';

interface ClusterOptions {
  /** The project's folder, with a build in dist/. */
  readonly root: string;
  readonly webs: number;
  readonly workers: number;
  /** Settings of the processes; they override the cluster's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute paths of files that every web and worker loads before anything else. */
  readonly preload?: readonly string[];
  /** Three members of the replica set and a second Redis, to fail over to; else one of each. */
  readonly failOver?: boolean;
  /** One address where it is not given; a group can always fail over. */
  readonly redisForm?: RedisForm;
  /** The database rejects killSessions, from the start on. */
  readonly rejectsKillSessions?: boolean;
  /** Of each member of the database, GB; a quarter where it is not given. */
  readonly cacheSize?: number;
  /** Milliseconds by which the clocks of processes are wrong, by name; below zero: slow. */
  readonly clockShifts?: ReadonlyMap<string, number>;
  readonly signal?: AbortSignal;
}

export interface Cluster {
  readonly webs: readonly WebMember[];
  readonly workers: readonly Member[];
  readonly mongo: ClusterSet;
  readonly redis: RedisServers;
  readonly clients: readonly DirectoryClient[];
  /** What the processes run with. */
  readonly config: Config;
  /** For looking: straight to the servers, past the proxies. */
  readonly db: Connection;
  readonly lookup: RedisConnection;
  readonly keys: RedisKeys;
  /** Ends that no fault brought about, each with the end of its log. */
  readonly crashes: readonly string[];
}

/** One web process and two workers: enough to measure, and to lose one. */
export const SMALL = { webs: 1, workers: 2 };

/**
 * A cluster for as long as a piece of work takes, in a folder that goes with it.
 *
 * @param work may ask for the logs to be kept; they are, where it throws
 * @throws Error with the end of a log where something does not start; nothing is left running
 */
export function withCluster<T>(
  options: ClusterOptions & FolderOptions,
  work: (cluster: Cluster, keepLogs: () => void) => Promise<T>,
): Promise<T> {
  return inFolder(options, async (folder, keepLogs) => {
    const stopping = new AbortController();
    const signal = eitherSignal(stopping.signal, options.signal);
    const releasers = new Releasers();
    try {
      return await work(await startCluster({ ...options, folder, signal }, releasers), keepLogs);
    } finally {
      stopping.abort();
      await releaseAll(releasers);
    }
  });
}

/** @throws Error with all that failed */
async function releaseAll(releasers: Releasers): Promise<void> {
  const failures: string[] = [];
  await releasers.run((text) => failures.push(text));
  if (failures.length > 0) throw new Error(failures.join('\n'));
}

type StartOptions = ClusterOptions & Pick<Ground, 'folder' | 'signal'>;

async function startCluster(options: StartOptions, releasers: Releasers): Promise<Cluster> {
  const { root, folder, signal, failOver = false, rejectsKillSessions = false } = options;
  const { redisForm = 'single' } = options;
  const crashes: string[] = [];
  const ground: Ground = { root, folder, signal, crashed: (what) => void crashes.push(what) };
  const members = failOver ? 3 : 1;
  const processes = [...namesOf('web', options.webs), ...namesOf('worker', options.workers)];
  const mongo = await startSet(ground, {
    members,
    processes,
    rejectsKillSessions,
    cacheSize: options.cacheSize,
  });
  releasers.add(() => mongo.stop());
  const size = failOver ? 2 : 1;
  const redis = await startRedisServers(ground, { form: redisForm, size, processes });
  releasers.add(() => redis.stop());
  const envOf = environment(options, mongo, redis);
  const config = readConfig(envOf(''));
  const db = await connectMongo(mongo.url);
  releasers.add(() => db.close());
  const lookup = connectLookup(redis);
  releasers.add(() => lookup.disconnect());
  const clients = await fillDirectory(db, config);
  const apps = await startApps(
    options,
    { ...ground, envOf, drainMs: config.DRAIN_TIMEOUT },
    releasers,
  );
  const keys = createRedisKeys(config.REDIS_NAMESPACE, config.REDIS_SHARDS);
  return { ...apps, mongo, redis, clients, config, db, lookup, keys, crashes };
}

/** @returns the environment of the process with a name */
function environment(
  { root, env, preload = [], clockShifts, redisForm }: ClusterOptions,
  mongo: ClusterSet,
  redis: RedisServers,
): (name: string) => NodeJS.ProcessEnv {
  // What it asks for must not count: a secondary that lags would answer with what was.
  const mongoUrl = `${mongo.url}&readPreference=secondaryPreferred`;
  const servers = { mongoUrl, redisUrl: redis.processUrl, namespace: 'chaos' };
  const all = {
    ...appEnvironment(servers, [join(root, 'dist/tools/harness/preload.js'), ...preload]),
    REDIS_SHARDS: redisForm === 'cluster' ? '8' : '1',
    ...env,
  };
  return (name) => ({
    ...all,
    CHAOS_WAYS: JSON.stringify({ ...mongo.waysOf(name), ...redis.waysOf(name) }),
    CHAOS_CLOCK_SHIFT: String(clockShifts?.get(name) ?? 0),
  });
}

async function startApps(
  { webs, workers }: ClusterOptions,
  ground: AppGround,
  releasers: Releasers,
): Promise<Pick<Cluster, 'webs' | 'workers'>> {
  const running: Member[] = [];
  releasers.add(async () => void (await allSettledOrThrow(running.map((app) => app.stop()))));
  const several = <T extends Member>(
    names: readonly string[],
    start: (name: string) => Promise<T>,
  ) =>
    allSettledOrThrow(
      names.map(async (name) => {
        const app = await start(name);
        running.push(app);
        return app;
      }),
    );
  const started = {
    webs: several(namesOf('web', webs), (name) => startWebMember(name, ground)),
    workers: several(namesOf('worker', workers), (name) => startWorkerMember(name, ground)),
  };
  // Both are waited for, so that nothing is still starting when a failure is cleaned up.
  await allSettledOrThrow<unknown>([started.webs, started.workers]);
  return { webs: await started.webs, workers: await started.workers };
}

/** Comes back by itself after its server was away. */
function connectLookup({ url, group }: RedisServers): RedisConnection {
  if (group) return connectBlocking(url, createLogger('harness', 'silent'));
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  // Told by whoever waits for an answer.
  redis.on('error', () => undefined);
  return redis;
}
