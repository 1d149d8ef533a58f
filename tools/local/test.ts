/** `npm test`: runs jest with its own servers, which are stopped and whose data is removed afterwards. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileVariableOf, SECRET_SETTINGS } from '../../src/infra/setting-files';
import { startGuarded } from './process-guard';
import { Releasers, type RunContext } from './run-context';
import { makeRunFolder } from './run-folder';
import { type RunningServer, startMongo, startRedis } from './servers';
import { listenForStop, type StopRequest } from './stop-request';
import { allSettledOrThrow, Stopped } from './waiting';

const FOLDER = 'matter-push-test-';
/** Settings of the user. Tests must not use the servers of the user or depend on these settings. */
const NOT_FOR_TESTS = [
  'MONGO_URL',
  'REDIS_URL',
  'SECRET_KEYS',
  'OPERATOR_TOKEN',
  ...SECRET_SETTINGS.map(fileVariableOf),
  'DATA_DIR',
  'HOST',
  'PORT',
  'WORKERS',
  'METRICS_PORT',
  'METRICS_HOST',
  'TRACING',
  'PAGES',
  'DOCS_DEMO',
];
const INTERRUPTED = 130;

/** @returns the exit code of jest; 130 if it was interrupted; 1 if the servers did not start */
export async function run(context: RunContext): Promise<number> {
  const stop = listenForStop(process.env);
  const releasers = new Releasers();
  try {
    return await runJest(context, stop, releasers);
  } catch (error) {
    if (error instanceof Stopped) return INTERRUPTED;
    process.stderr.write(`\n${error instanceof Error ? error.message : error}\n`);
    return 1;
  } finally {
    await releasers.run(context.say);
    stop.dispose();
  }
}

async function runJest(
  { root, args, say }: RunContext,
  stop: StopRequest,
  releasers: Releasers,
): Promise<number> {
  const folder = makeRunFolder(FOLDER);
  releasers.add(() => rmSync(folder, { recursive: true, force: true }));
  const { signal } = stop;
  const own = async (start: Promise<RunningServer>) => {
    const server = await start;
    releasers.add(server.stop);
    return server.url;
  };
  const [mongoUrl, redisUrl] = await allSettledOrThrow([
    own(startMongo({ dir: join(folder, 'mongodb'), signal })),
    own(startRedis({ dir: join(folder, 'redis'), signal })),
  ]);
  say('Servers for the tests are up; running jest');
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const env = { ...process.env, TEST_MONGO_URL: mongoUrl, TEST_REDIS_URL: redisUrl };
  for (const name of NOT_FOR_TESTS) delete env[name as keyof typeof env];
  const guarded = await startGuarded(process.execPath, [jest, ...args], {
    output: 'inherit',
    env,
    cwd: root,
  });
  releasers.add(() => guarded.stop());
  await Promise.race([guarded.exited, stop.requested]);
  if (signal.aborted) throw new Stopped();
  return guarded.exitCode() ?? 1;
}
