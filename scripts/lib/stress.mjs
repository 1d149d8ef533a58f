/** Runs of a suite of tests next to other load, and what they took. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** What the machine does besides. `busy`: one busy loop per core. `pinned`: all of the suite on one core. */
export const SITUATIONS = ['busy', 'pinned', 'idle'];
const SOAK_SITUATIONS = ['busy', 'idle'];
export const SUITES = ['test', 'soak'];

/** Ends by itself within a second when the process that started it is gone. */
const BUSY_LOOP = `
  const parent = process.ppid;
  (function spin() {
    const end = Date.now() + 500;
    while (Date.now() < end);
    if (process.ppid === parent) setImmediate(spin);
  })();
`;
/** The shell waits for the command also after a signal, and then writes what its children took. */
const TIMED = `trap : INT TERM HUP; "$@"; code=$?; times >&3; exit $code`;

/**
 * @param only situations; all of them where it is empty
 * @param runs of each suite in each situation; two of `test` and one of `soak` where it is absent
 * @param suite `test`, `soak`, or `all`
 */
export function planOf({ only = [], runs, suite = 'all' }) {
  const wanted = (situation) => only.length === 0 || only.includes(situation);
  const plan = (name, situations, count) =>
    situations
      .filter(wanted)
      .flatMap((situation) =>
        Array.from({ length: runs ?? count }, (_, n) => ({ suite: name, situation, run: n + 1 })),
      );
  return [
    ...(suite === 'soak' ? [] : plan('test', SITUATIONS, 2)),
    ...(suite === 'test' ? [] : plan('soak', SOAK_SITUATIONS, 1)),
  ];
}

/** Whether a command can be kept on one core here. */
export const canPin = () => spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/**
 * Runs a command to its end. Aborted, it stops the command and its busy loops, and waits for the command.
 *
 * @param command with its arguments
 * @param logFile for its output
 * @returns its exit code, and milliseconds: of the clock, and of the processor for all that it started
 */
export async function measure(command, { situation, logFile, cwd, signal }) {
  const loops = situation === 'busy' ? startLoops(availableParallelism()) : [];
  const pinned = situation === 'pinned' ? ['taskset', '-c', '0', ...command] : command;
  const log = openSync(logFile, 'w');
  const since = performance.now();
  // In a group of its own: a Ctrl-C reaches it through this process alone.
  const child = spawn('sh', ['-c', TIMED, 'sh', ...pinned], {
    cwd,
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
  });
  closeSync(log);
  let times = '';
  child.stdio[3].on('data', (chunk) => {
    times += chunk;
  });
  const stop = () => process.kill(-child.pid, 'SIGTERM');
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    const exitCode = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
    return { exitCode, wallMs: performance.now() - since, cpuMs: cpuOf(times) };
  } finally {
    signal?.removeEventListener('abort', stop);
    for (const loop of loops) loop.kill('SIGKILL');
  }
}

function startLoops(count) {
  return Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', BUSY_LOOP], { detached: true, stdio: 'ignore' }),
  );
}

/** The second line that `times` writes is about children: `1m2.345s 0m6.789s`, user and system. */
export function cpuOf(times) {
  const spans = [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  return spans.reduce((sum, [, minutes, seconds]) => sum + (minutes * 60 + +seconds) * 1_000, 0);
}
