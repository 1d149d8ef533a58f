import { type ChildProcess, spawn } from 'node:child_process';
import { failureWithLog, openLog } from './log-file';
import { parentDeathPipe } from './parent-death-pipe';
import type { ExitReason } from './process-guard';
import { killGroup, untilReady, withDeadline } from './waiting';

/** A web or worker process that said that it serves. */
export interface AppProcess {
  pid: number;
  /** Where it serves, by its own word; a worker serves nowhere. */
  url?: string;
  logFile: string;
  exited: Promise<ExitReason>;
  /** SIGTERM, and SIGKILL if the drain takes longer than it may. */
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

export interface AppOptions {
  name: string;
  script: string;
  args?: string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  /** How long it may drain by its own settings; the SIGKILL comes some seconds later. */
  drainMs: number;
  signal?: AbortSignal;
}

/**
 * Of Node, as in Procfile and Dockerfile. Megabytes of each half of the young generation: what pushes in flight
 * hold mostly dies before it is full, and is never copied (docs/performance.md).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=64'];

const READY_MS = 120_000;
const BEYOND_DRAIN_MS = 5_000;

/**
 * Starts `node script` in a session of its own (else Ctrl-C would reach it before we drain in
 * order) and waits for its `{ ready: true }`. It drains by itself when this process is gone,
 * and holds the parent-death pipe, so the servers stay up for as long as it does that.
 * @throws with the end of its log when it does not get ready; nothing is left running then
 */
export async function startApp(options: AppOptions): Promise<AppProcess> {
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

function appOf(child: ChildProcess, { logFile, drainMs }: AppOptions): AppProcess {
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
      if (await withDeadline(exited, drainMs + BEYOND_DRAIN_MS)) return;
      killGroup(child.pid);
      await exited;
    },
  };
}
