import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { parentDeathPipe } from './parent-death-pipe';
import { killGroup, withDeadline } from './waiting';

/**
 * The shell script that guards a program. Descriptor 0 is the parent-death pipe; the script writes the pid of the
 * program to descriptor 3. When the parent-death pipe closes, it sends SIGTERM to the whole session, and SIGKILL after
 * 15 s. The traps let the shell survive the SIGTERM that it sends to its own group.
 */
const GUARD_SCRIPT = `
trap : INT TERM HUP
exec 4<&0
"$@" </dev/null 3>&- 4<&- &
child=$!
echo "$child" >&3
exec 3>&-
(
  trap : INT TERM HUP
  while read -r _; do :; done
  kill -TERM 0
  n=0
  while kill -0 "$child" 2>/dev/null && [ "$n" -lt 150 ]; do sleep 0.1; n=$((n + 1)); done
  kill -KILL 0
) <&4 >/dev/null 2>&1 &
watcher=$!
exec 4<&-
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
kill -KILL "$watcher"
exit "$code"
`;

/** How a process ended, in words for a log line. */
export type ExitReason = string;

/** A program that runs under a process guard. */
export interface GuardedProgram {
  /** Process id of the program, not of its shell. */
  pid: number;
  /** Resolves when all processes of its session have ended. */
  exited: Promise<ExitReason>;
  exitCode(): number | null;
  /** Sends SIGTERM, and SIGKILL to the whole session after the grace period. A second call is allowed. */
  stop(graceMs?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

const STOP_GRACE_MS = 15_000;

/**
 * Starts a program in a session of its own. The session ends when this process and all processes that share its
 * parent-death pipe have ended.
 *
 * @param output for stdout and stderr: a file descriptor, or 'inherit'
 */
export async function startGuarded(
  command: string,
  args: string[],
  options: { output: number | 'inherit'; env?: NodeJS.ProcessEnv; cwd?: string },
): Promise<GuardedProgram> {
  const { output, env, cwd } = options;
  const stdio: StdioOptions = [parentDeathPipe().readFd, output, output, 'pipe'];
  const shell = spawn('sh', ['-c', GUARD_SCRIPT, 'guard', command, ...args], {
    cwd,
    detached: true,
    env,
    stdio,
  });
  const exited = exitReasonOf(shell);
  const pid = await reportedPid(shell);
  return {
    pid,
    exited,
    exitCode: () => shell.exitCode,
    kill: (signal) => signalQuietly(pid, signal),
    stop: async (graceMs = STOP_GRACE_MS) => {
      signalQuietly(pid, 'SIGTERM');
      if (await withDeadline(exited, graceMs)) return;
      killGroup(shell.pid);
      await exited;
    },
  };
}

function exitReasonOf(shell: ChildProcess): Promise<ExitReason> {
  return new Promise((resolve) => {
    shell.once('error', (error) => resolve(error.message));
    shell.once('exit', (code, signal) => {
      killGroup(shell.pid); // Ends the rest of the session, if only the shell was killed.
      resolve(signal ? `signal ${signal}` : `exit code ${code}`);
    });
  });
}

function reportedPid(shell: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const pipe = shell.stdio[3];
    shell.once('error', reject);
    pipe?.once('data', (chunk: Buffer) => resolve(Number(chunk.toString())));
    pipe?.once('close', () => reject(new Error('The shell that keeps a server did not start.')));
  });
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}
