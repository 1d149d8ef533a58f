/** The servers of a benchmark, in a folder of its own, for as long as its work takes. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Releasers } from '../local/run-context';
import { makeRunFolder } from '../local/run-folder';
import type { RunningServer } from '../local/server';
import { startMongo, startRedis } from '../local/servers';

export interface BenchServers {
  /** For data and logs; it goes with the servers. */
  readonly folder: string;
  readonly mongo: RunningServer;
  readonly redis: RunningServer;
  /** What the work starts on them is undone before they end. */
  readonly releasers: Releasers;
}

interface ServersOptions {
  /** Memory of the database in gigabytes, where it is filled. */
  readonly cacheSize?: number;
  readonly say: (text: string) => void;
}

export async function withServers<T>(
  { cacheSize, say }: ServersOptions,
  work: (servers: BenchServers) => Promise<T>,
): Promise<T> {
  const releasers = new Releasers();
  try {
    const folder = makeRunFolder('matter-push-bench-');
    releasers.add(() => rmSync(folder, { recursive: true, force: true }));
    const cache = cacheSize === undefined ? {} : { cacheSize };
    const mongo = await startMongo({ dir: join(folder, 'mongodb'), ...cache });
    releasers.add(mongo.stop);
    const redis = await startRedis({ dir: join(folder, 'redis') });
    releasers.add(redis.stop);
    return await work({ folder, mongo, redis, releasers });
  } finally {
    await releasers.run(say);
  }
}
