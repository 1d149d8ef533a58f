/** Runs suites of tests next to other load and measures their duration. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/**
 * The situations. `busy`: one busy loop per core runs next to the suite. `pinned`: the whole suite runs on one core.
 */
export const SITUATIONS = ['busy', 'pinned', 'idle'];
const SOAK_SITUATIONS = ['busy', 'idle'];
export const SUITES = ['test', 'soak'];

/** The busy loop. It ends within a second after the end of its parent process. */
const BUSY_LOOP = `
  const parent = process.ppid;
  (function spin() {
    const end = Date.now() + 500;
    while (Date.now() < end);
    if (process.ppid === parent) setImmediate(spin);
  })();
`;
/** The shell waits for the command even after a signal, and then writes the times of its children. */
const TIMED = `trap : INT TERM HUP; "$@"; code=$?; times >&3; exit $code`;

/**
 * @param only situations; empty: all
 * @param runs of each suite in each situation; default: two of `test`, one of `soak`
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

/** @returns whether this machine can bind a command to one core */
export const canPin = () => spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/**
 * Runs a command to its end. On an abort it stops the command and its busy loops, and waits for the command.
 *
 * @param command with its arguments
 * @param logFile for its output
 * @returns its exit code, its duration in ms, and the processor time in ms of all its processes
 */
export async function measure(command, { situation, logFile, cwd, signal }) {
  const loops = situation === 'busy' ? startLoops(availableParallelism()) : [];
  const pinned = situation === 'pinned' ? ['taskset', '-c', '0', ...command] : command;
  const log = openSync(logFile, 'w');
  const since = performance.now();
  // The command has its own process group: a Ctrl-C reaches only this process, which then sends a SIGTERM.
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
