import { type ChildProcess, spawn } from 'node:child_process';
import { failureWithLog, openLog } from './log-file';
import { parentDeathPipe } from './parent-death-pipe';
import type { ExitReason } from './process-guard';
import { killGroup, untilReady, withDeadline } from './waiting';

/** A web or worker process that has reported that it is ready. */
export interface AppProcess {
  pid: number;
  /** URL that `web` has reported; absent for a worker. */
  url?: string;
  logFile: string;
  exited: Promise<ExitReason>;
  /** Sends SIGTERM, and SIGKILL if the process takes too long to stop. */
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

export interface AppProcessOptions {
  name: string;
  script: string;
  args?: string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  /** DRAIN_TIMEOUT of the process, milliseconds. SIGKILL follows some seconds later. */
  drainMs: number;
  signal?: AbortSignal;
}

/**
 * Options of Node, as in Procfile and Dockerfile. The young generation has 64 MB for each half. Most objects of pushes
 * in flight are garbage before it is full, so the garbage collector never copies them (docs/performance.md).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=64'];

const READY_MS = 120_000;
const EXTRA_MS = 5_000;

/**
 * Starts `node script` and waits for its message `{ ready: true }`. The process has a session of its own: otherwise
 * Ctrl-C would stop all processes at once instead of in order. If this process dies, it drains and ends. Until then it
 * holds the parent-death pipe, so that the servers keep running.
 *
 * @throws Error with the end of the log if the process does not become ready; it is then stopped
 */
export async function startApp(options: AppProcessOptions): Promise<AppProcess> {
  const { name, script, args = [], env, logFile, signal } = options;
  const log = openLog(logFile);
  const child = spawn(process.execPath, [...NODE_FLAGS, script, ...args], {
    detached: true,
    env,
    stdio: ['ignore', log.fd, log.fd, 'ipc', parentDeathPipe().writeFd],
  });
  log.close();
  const app = appOf(child, options);
  let ready = false;
  child.on('message', (message) => {
    if (typeof message !== 'object') return;
    ready ||= 'ready' in message && message.ready === true;
    if ('url' in message) app.url = String(message.url);
  });
  try {
    const readiness = { exited: app.exited, deadlineMs: READY_MS, signal };
    const problem = await untilReady({ ...readiness, probe: async () => ready });
    if (problem) throw failureWithLog(`${name} did not start: ${problem}`, logFile);
  } catch (error) {
    await app.stop();
    throw error;
  }
  return app;
}

function appOf(child: ChildProcess, { logFile, drainMs }: AppProcessOptions): AppProcess {
  const exited = new Promise<ExitReason>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) =>
      resolve(signal ? `signal ${signal}` : `exit code ${code}`),
    );
  });
  return {
    pid: child.pid ?? -1,
    logFile,
    exited,
    kill: (signal) => void child.kill(signal),
    stop: async () => {
      child.kill('SIGTERM');
      if (await withDeadline(exited, drainMs + EXTRA_MS)) return;
      killGroup(child.pid);
      await exited;
    },
  };
}
