/**
 * `npm start`: runs the servers, the release step, the demo client, a web process and the workers until it is stopped.
 */
import { join } from 'node:path';
import { unsetSettings } from '../../src/infra/setting-files';
import { startApp } from './app-process';
import { bringServers, type StartContext } from './backing';
import { ensureSecretKeys, removeEndpoints, writeEndpoints } from './data-dir';
import { waitForEarlierRun } from './earlier-run';
import { firstPush } from './first-push';
import { freePort, isFree } from './ports';
import { Releasers, type RunContext } from './run-context';
import { metricsPortOf, readStartSettings, urlFor } from './settings';
import { listenForStop } from './stop-request';
import { supervise } from './supervise';
import { allSettledOrThrow, Stopped, unlessStopped } from './waiting';

/** @returns the exit code: 0 after a requested stop, 1 after a failure */
export async function run(context: RunContext): Promise<number> {
  const stop = listenForStop(process.env);
  const releasers = new Releasers();
  let failure: unknown;
  const fail = (error: Error) => {
    failure ??= error;
    stop.request('a failure');
  };
  try {
    const settings = readStartSettings(process.env, context.root);
    await bringUp({ context, settings, stop, releasers, fail });
    context.say(`Stopping after ${await stop.requested}`);
  } catch (error) {
    if (!(error instanceof Stopped)) failure ??= error;
  }
  await releasers.run(context.say);
  stop.dispose();
  if (failure !== undefined) {
    process.stderr.write(`\n${failure instanceof Error ? failure.message : failure}\n`);
    return 1;
  }
  context.say('Stopped');
  return 0;
}

async function bringUp(startContext: StartContext): Promise<void> {
  const { context, settings, stop, releasers } = startContext;
  const { host, dataDir, workers, drainDelay, pages, docsDemo } = settings;
  await waitForEarlierRun(settings, context.say, stop.signal);
  const port = await choosePort(host, settings.port);
  const url = urlFor(host, port);
  const secretKeys = settings.secretKeys ?? ensureSecretKeys(dataDir);
  const { mongo, redis } = await bringServers(startContext);
  const env = {
    ...process.env,
    // The settings are passed as values, because a process with both value and file of a setting does not start.
    ...unsetSettings('MONGO_URL', 'REDIS_URL', 'SECRET_KEYS'),
    MONGO_URL: mongo,
    REDIS_URL: redis,
    SECRET_KEYS: secretKeys,
    DATA_DIR: dataDir,
    HOST: host,
    PORT: String(port),
    DRAIN_DELAY: drainDelay,
    DOCS_DEMO: docsDemo,
  };
  context.say('Preparing indexes and the demo client');
  // Loaded here, while the servers already run, because the database driver takes some time to load.
  const { prepareData } = await import('./prepare-data.js');
  const releaseLog = join(dataDir, 'logs', 'release.log');
  const demo = await unlessStopped(prepareData(env, releaseLog), stop.signal);
  const names = Array.from({ length: workers }, (_, index) => `worker-${index + 1}`);
  // The release is in reverse order: `web` drains while the workers still process its pushes.
  await allSettledOrThrow([
    bringApps(startContext, 'workers/main.js', names, env),
    bringApps(startContext, 'src/web.js', ['web'], env),
  ]);
  releasers.add(() => removeEndpoints(dataDir));
  writeEndpoints(dataDir, { url, mongoUrl: mongo, redisUrl: redis, pid: process.pid });
  context.announce(`it listens on ${url}`);
  context.say(`Matter Push listens on ${url}; workers: ${workers}`);
  if (pages === 'on') context.say(`To read and to try: ${url}/docs`);
  context.say(`Logs: ${join(dataDir, 'logs')}. Ctrl-C stops everything; the data stays.`);
  process.stdout.write(
    `\nA first push, to paste into another terminal:\n\n${firstPush(url, demo)}\n\n`,
  );
}

async function choosePort(host: string, wanted: number): Promise<number> {
  if (wanted === 0) return freePort(host);
  if (await isFree(wanted, host)) return wanted;
  throw new Error(
    `Port ${wanted} is in use. Stop what listens there, or choose one: PORT=3001 npm start`,
  );
}

/** Starts the processes of one type together. They are also stopped together. */
async function bringApps(
  { context, settings, stop, releasers, fail }: StartContext,
  script: string,
  names: string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const start = async (name: string) => {
    const { dataDir, drainMs } = settings;
    const logFile = join(dataDir, 'logs', `${name}.log`);
    const own = { ...env, METRICS_PORT: String(metricsPortOf(settings.metricsPort, name)) };
    const app = { name, script: join(context.root, 'dist', script), env: own, logFile, drainMs };
    const launch = (_previous: unknown, signal: AbortSignal) => startApp({ ...app, signal });
    const supervised = await supervise(
      { name, launch, say: context.say, giveUp: fail },
      stop.signal,
    );
    started.push(supervised);
  };
  const started: { stop(): Promise<void> }[] = [];
  const stopAll = async () =>
    void (await Promise.all(started.map((supervised) => supervised.stop())));
  releasers.add(stopAll, names.join(', '));
  await allSettledOrThrow(names.map(start));
}
