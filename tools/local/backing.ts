import { join } from 'node:path';
import { earlierDataNotes } from './earlier-data';
import type { Releasers, RunContext } from './run-context';
import type { RunningServer } from './server';
import { givenMongo, givenRedis, startMongo, startRedis } from './servers';
import type { StartSettings } from './settings';
import type { StopRequest } from './stop-request';
import { supervise } from './supervise';
import { allSettledOrThrow } from './waiting';

const KINDS = {
  MongoDB: { folder: 'mongodb', start: startMongo, take: givenMongo },
  Redis: { folder: 'redis', start: startRedis, take: givenRedis },
};

/** What a start needs: settings, the request to stop, and what to release at the end. */
export interface StartContext {
  context: RunContext;
  settings: StartSettings;
  stop: StopRequest;
  releasers: Releasers;
  /** Ends the run with an error. */
  fail(error: Error): void;
}

/** Brings up, or takes as given, the MongoDB and the Redis of this run, both at once. */
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
  given: string | undefined,
  { context, settings, stop, releasers, fail }: StartContext,
): Promise<string> {
  const { folder, start, take } = KINDS[name];
  if (given) {
    const server = await take(given, stop.signal);
    context.say(`${name}: ${server.describe}`);
    return given;
  }
  const dir = join(settings.dataDir, folder);
  if (name === 'MongoDB') earlierDataNotes(dir).forEach(context.say);
  const logFile = join(settings.dataDir, 'logs', `${folder}.log`);
  const tell = (seconds: number) =>
    context.say(`  still starting ${name} (${seconds} s): after a hard stop it replays its log`);
  const supervised = await supervise<RunningServer>(
    {
      name,
      // On its port again, so that the processes that use it find it without being told.
      launch: (previous, signal) => start({ dir, logFile, signal, tell, port: previous?.port }),
      tell: context.say,
      giveUp: fail,
    },
    stop.signal,
  );
  releasers.add(supervised.stop, name);
  const { port, url } = supervised.current();
  context.say(`${name} answers on port ${port}`);
  return url;
}
