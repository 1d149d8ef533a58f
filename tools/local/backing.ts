import { join } from 'node:path';
import { earlierDataNotes } from './earlier-data';
import type { Releasers, RunContext } from './run-context';
import type { RunningServer } from './server';
import { externalMongo, externalRedis, startMongo, startRedis } from './servers';
import type { StartSettings } from './settings';
import type { StopRequest } from './stop-request';
import { supervise } from './supervise';
import { allSettledOrThrow } from './waiting';

const KINDS = {
  MongoDB: { folder: 'mongodb', start: startMongo, take: externalMongo },
  Redis: { folder: 'redis', start: startRedis, take: externalRedis },
};

/** What the steps of `npm start` share. */
export interface StartContext {
  context: RunContext;
  settings: StartSettings;
  stop: StopRequest;
  releasers: Releasers;
  /** Ends the run of `npm start` with an error. */
  fail(error: Error): void;
}

/** Starts MongoDB and Redis, or uses those that MONGO_URL and REDIS_URL name. @returns their URLs */
export async function bringServers(
  startContext: StartContext,
): Promise<{ mongo: string; redis: string }> {
  const { settings } = startContext;
  const [mongo = '', redis = ''] = await allSettledOrThrow([
    bring('MongoDB', settings.mongoUrl, startContext),
    bring('Redis', settings.redisUrl, startContext),
  ]);
  return { mongo, redis };
}

async function bring(
  name: keyof typeof KINDS,
  externalUrl: string | undefined,
  { context, settings, stop, releasers, fail }: StartContext,
): Promise<string> {
  const { folder, start, take } = KINDS[name];
  if (externalUrl) {
    const server = await take(externalUrl, stop.signal);
    context.say(`${name}: ${server.describe}`);
    return externalUrl;
  }
  const dir = join(settings.dataDir, folder);
  if (name === 'MongoDB') earlierDataNotes(dir).forEach(context.say);
  const logFile = join(settings.dataDir, 'logs', `${folder}.log`);
  const onWait = (seconds: number) =>
    context.say(`  still starting ${name} (${seconds} s): after a hard stop it replays its log`);
  const supervised = await supervise<RunningServer>(
    {
      name,
      // A restart uses the same port, so that the processes that use the server find it again.
      launch: (previous, signal) => start({ dir, logFile, signal, onWait, port: previous?.port }),
      say: context.say,
      giveUp: fail,
    },
    stop.signal,
  );
  releasers.add(supervised.stop, name);
  const { port, url } = supervised.current();
  context.say(`${name} answers on port ${port}`);
  return url;
}
