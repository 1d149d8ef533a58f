import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { failureWithLog, openLog } from './log-file';
import { freePort, isFree } from './ports';
import { type ExitReason, type GuardedProgram, startGuarded } from './process-guard';
import type { ServerProgram } from './project';
import { untilReady } from './waiting';

/** A MongoDB or Redis that answers. */
export interface RunningServer {
  url: string;
  kind: 'given' | 'path' | 'embedded';
  /** Describes the server for people, without credentials. */
  describe: string;
  port: number;
  /** Absent for a given server (`kind`), because this process has not started it. */
  pid?: number;
  logFile?: string;
  /** Resolves when the server has ended; never for a given server. */
  exited: Promise<ExitReason>;
  /** Stops the server and waits for its end. Does nothing for a given server. */
  stop(): Promise<void>;
  /** Sends a signal to the process of the server, for example SIGKILL or SIGSTOP. */
  kill(signal: NodeJS.Signals): void;
}

/** How to start a server. Another start with the same `dir` and `port` continues its data. */
export interface ServerOptions {
  /** Folder for its data and, without `logFile`, its log. It is created if it does not exist. */
  dir: string;
  /** By default a free port. */
  port?: number;
  logFile?: string;
  /** By default the program that the set-up has chosen. */
  program?: ServerProgram;
  signal?: AbortSignal;
  /** Called from time to time until the server is ready, with the seconds so far. */
  onWait?(seconds: number): void;
  onExit?(how: ExitReason): void;
}

/** What differs between MongoDB and Redis. */
export interface ServerKind {
  name: string;
  program: ServerProgram;
  args(port: number, dir: string): string[];
  url(port: number): string;
  /** Resolves to true when the server accepts reads and writes. */
  isReady(port: number): Promise<boolean>;
}

// After a SIGKILL, a server first replays its log, which takes some seconds, and longer on a busy machine.
const READY_MS = 120_000;

/**
 * Starts a server program and waits until it is ready.
 *
 * @throws Error with the end of its log if it does not become ready; it is then stopped
 */
export async function startServer(
  kind: ServerKind,
  options: ServerOptions,
): Promise<RunningServer> {
  const { dir } = options;
  mkdirSync(dir, { recursive: true });
  const port = options.port ?? (await freePort());
  // Otherwise another server on this port would answer the probe.
  if (!(await isFree(port, '127.0.0.1'))) {
    throw new Error(`${kind.name} did not start: port ${port} is in use.`);
  }
  const logFile = options.logFile ?? join(dir, `${kind.name}.log`);
  const log = openLog(logFile);
  const [command = '', ...first] = commandLine(kind.program);
  const args = [...first, ...kind.args(port, dir)];
  const guarded = await startGuarded(command, args, { output: log.fd, cwd: dir }).finally(
    log.close,
  );
  await readyOrGone(kind, guarded, { ...options, port, logFile });
  if (options.onExit) void guarded.exited.then(options.onExit);
  return {
    url: kind.url(port),
    kind: kind.program.kind,
    describe: kind.program.describe,
    port,
    logFile,
    pid: guarded.pid,
    exited: guarded.exited,
    stop: () => guarded.stop(),
    kill: guarded.kill,
  };
}

/** The command `env` sets the libraries, so that only this program loads them, and not the shell that guards it. */
function commandLine({ command, libraries = [] }: ServerProgram): string[] {
  if (libraries.length === 0) return [command];
  return ['env', `LD_LIBRARY_PATH=${libraries.join(delimiter)}`, command];
}

async function readyOrGone(
  kind: ServerKind,
  guarded: GuardedProgram,
  { port, logFile, signal, onWait }: ServerOptions & { port: number; logFile: string },
): Promise<void> {
  const probe = () => kind.isReady(port);
  try {
    const { exited } = guarded;
    const problem = await untilReady({ probe, exited, deadlineMs: READY_MS, signal, onWait });
    if (problem) throw failureWithLog(`${kind.name} did not start: ${problem}`, logFile);
  } catch (error) {
    await guarded.stop(2_000);
    throw error;
  }
}

/** A given server, which the user has named and runs. */
export function externalServer(name: string, url: string): RunningServer {
  const { host, port } = new URL(url.replace(/^mongodb(\+srv)?:/, 'http:').replace(/,[^/]*/, ''));
  return {
    url,
    kind: 'given',
    describe: `${name} at ${host} (given)`,
    port: Number(port),
    exited: new Promise(() => {}),
    stop: async () => {},
    kill: () => {},
  };
}
