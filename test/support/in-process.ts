/**
 * A web or a worker in the process of jest: a start costs milliseconds, where a process of its own costs
 * a second of a core. The runtime of the tests (`jest-runtime.cjs`) lets Node load what was built, once for all
 * files.
 */
import path from 'node:path';
import pino from 'pino';
import type { ProcessOptions, RunningProcess } from '../../src/process';
import type { AppProcess } from '../../tools/local/app-process';

type Start = (options: ProcessOptions) => Promise<RunningProcess>;

const DIST = path.resolve(__dirname, '../../dist');

const starts = {
  web: (): Start => require(`${DIST}/src/web.js`).startWeb,
  worker: (): Start => require(`${DIST}/workers/main.js`).startWorker,
};

let count = 0;

/** @param env all of its settings; those of jest's own process do not count */
export async function startInProcess(
  kind: 'web' | 'worker',
  { env, logFile }: { env: NodeJS.ProcessEnv; logFile: string },
): Promise<AppProcess> {
  const log = pino.destination({ dest: logFile, sync: true });
  const name = `${kind}-test-${process.pid}-${++count}`;
  const running = await starts[kind]()({ env, name, log });
  let ended: (reason: string) => void;
  const exited = new Promise<string>((resolve) => {
    ended = resolve;
  });
  return {
    pid: process.pid,
    url: running.url,
    logFile,
    exited,
    kill: () => {
      throw new Error('It has no process of its own: start the service with `processes: true`.');
    },
    stop: async () => {
      const exitCode = await running.stop();
      ended(`exit code ${exitCode}`);
      if (exitCode !== 0) throw new Error(`${name} did not stop well: see ${logFile}`);
    },
  };
}
