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
  /** For people: which one it is; never with credentials. */
  describe: string;
  port: number;
  /** Absent for a given one, which is not ours to signal. */
  pid?: number;
  logFile?: string;
  /** Resolves when it has ended; never for a given one. */
  exited: Promise<ExitReason>;
  /** Ends it cleanly, and waits for that. Does nothing for a given one. */
  stop(): Promise<void>;
  /** Sends a signal to the server's own process, e.g. SIGKILL or SIGSTOP. */
  kill(signal: NodeJS.Signals): void;
}

/** How to start a server; starting again with the same `dir` and `port` continues its data. */
export interface ServerOptions {
  /** Its data and, unless `logFile` says otherwise, its log. Made if missing. */
  dir: string;
  /** A free one if absent. */
  port?: number;
  logFile?: string;
  /** The one that the set-up chose, if absent. */
  program?: ServerProgram;
  signal?: AbortSignal;
  /** Told now and then, while it does not serve yet, how many seconds that has taken. */
  tell?(seconds: number): void;
  onExit?(how: ExitReason): void;
}

/** What differs between the two kinds. */
export interface ServerKind {
  name: string;
  program: ServerProgram;
  args(port: number, dir: string): string[];
  url(port: number): string;
  /** Resolves to true once it serves reads and writes. */
  isReady(port: number): Promise<boolean>;
}

// After a SIGKILL a server replays its log first: some seconds, and more on a machine that is busy.
const READY_MS = 120_000;

/**
 * Starts a server program and waits until it answers.
 * @throws with the end of its log when it does not; nothing is left running then
 */
export async function startServer(
  kind: ServerKind,
  options: ServerOptions,
): Promise<RunningServer> {
  const { dir } = options;
  mkdirSync(dir, { recursive: true });
  const port = options.port ?? (await freePort());
  // Else another server on this port would answer our probe in its place.
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

/** The libraries are set by `env`, so that no other process, not even the shell over it, loads them. */
function commandLine({ command, libraries = [] }: ServerProgram): string[] {
  if (libraries.length === 0) return [command];
  return ['env', `LD_LIBRARY_PATH=${libraries.join(delimiter)}`, command];
}

async function readyOrGone(
  kind: ServerKind,
  guarded: GuardedProgram,
  { port, logFile, signal, tell }: ServerOptions & { port: number; logFile: string },
): Promise<void> {
  const probe = () => kind.isReady(port);
  try {
    const { exited } = guarded;
    const problem = await untilReady({ probe, exited, deadlineMs: READY_MS, signal, tell });
    if (problem) throw failureWithLog(`${kind.name} did not start: ${problem}`, logFile);
  } catch (error) {
    await guarded.stop(2_000);
    throw error;
  }
}

/** A server that somebody else runs, once it has answered. */
export function givenServer(name: string, url: string): RunningServer {
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
