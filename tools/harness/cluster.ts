/** A complete installation for a run: servers behind proxies, and several processes of each type. */

import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Connection } from 'mongoose';
import { type Config, readConfig } from '../../src/infra/config';
import { createLogger } from '../../src/infra/logger';
import { connectMongo } from '../../src/infra/mongo';
import { connectBlocking, type RedisConnection } from '../../src/infra/redis/connect';
import { createRedisKeys, type RedisKeys } from '../../src/queue/keys';
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
  /** Settings of the processes; they override those of the cluster. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute paths of files that every web and worker loads before its own code. */
  readonly preload?: readonly string[];
  /** Three members of the replica set and a second Redis for failovers; otherwise one of each. */
  readonly failOver?: boolean;
  /** One address if absent; a group can always fail over. */
  readonly redisForm?: RedisForm;
  /** The database rejects killSessions from its start. */
  readonly rejectsKillSessions?: boolean;
  /** Cache of each database member in GB; 0.25 if absent. */
  readonly cacheSize?: number;
  /** Milliseconds by which the clock of each process is wrong; negative: slow. */
  readonly clockShifts?: ReadonlyMap<string, number>;
  readonly signal?: AbortSignal;
}

export interface Cluster {
  readonly webs: readonly WebMember[];
  readonly workers: readonly Member[];
  readonly mongo: ClusterSet;
  readonly redis: RedisServers;
  readonly clients: readonly DirectoryClient[];
  /** The settings of the processes. */
  readonly config: Config;
  /** Connections of the harness, without proxies. */
  readonly db: Connection;
  readonly lookup: RedisConnection;
  readonly keys: RedisKeys;
  /** Processes that ended without a fault, each with the end of its log. */
  readonly crashes: readonly string[];
}

/** One web process and two workers, of which one may fail. */
export const SMALL = { webs: 1, workers: 2 };

/**
 * Runs a cluster during some work, in a temporary folder.
 *
 * @param work may call `keepLogs`; the logs are also kept if it throws
 * @throws Error with the end of a log if a process does not start. All processes are stopped then
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

/** @throws Error with all failures */
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
  const keys = createRedisKeys(
    config.REDIS_NAMESPACE,
    config.REDIS_SHARDS,
    config.REDIS_PARTITIONS,
  );
  return { ...apps, mongo, redis, clients, config, db, lookup, keys, crashes };
}

/** @returns a function that returns the environment of a process */
function environment(
  { root, env, preload = [], clockShifts, redisForm }: ClusterOptions,
  mongo: ClusterSet,
  redis: RedisServers,
): (name: string) => NodeJS.ProcessEnv {
  // The service must ignore this option, because a lagging secondary returns old data.
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
  // Wait for both, so that no process is still starting when a failure is cleaned up.
  await allSettledOrThrow<unknown>([started.webs, started.workers]);
  return { webs: await started.webs, workers: await started.workers };
}

/** Reconnects after an outage of its server. */
function connectLookup({ url, group }: RedisServers): RedisConnection {
  if (group) return connectBlocking(url, createLogger('harness', 'silent'));
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  // The failed command reports the error.
  redis.on('error', () => undefined);
  return redis;
}
