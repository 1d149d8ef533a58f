/** Progress lines and child processes of the set-up. */
import { spawn } from 'node:child_process';

const HEARTBEAT_MS = 5_000;
const TAIL_CHARS = 2_000;
const begun = Date.now();
const running = new Set();

/** A failure with a message for the user. Any other error is a defect and shows its stack. */
export class SetupError extends Error {}

/** Prints one progress line: seconds since the command began, then the text. */
export function say(text) {
  const seconds = ((Date.now() - begun) / 1000).toFixed(1).padStart(6);
  process.stdout.write(`[${seconds}s] ${text}\n`);
}

// A SIGTERM reaches only this process, so the handler also ends the installer. It waits for the end, because files
// that the installer still writes would break the next set-up.
let ending;
function endChildren(signal) {
  ending ??= signal === 'SIGINT' ? 130 : 143;
  for (const child of running) child.kill('SIGTERM');
}

/**
 * Runs a command of the set-up to its end. With a `label` it prints a line every few seconds while the command runs.
 * @returns {Promise<{ok: boolean, output: string}>} never rejects; `output` is the tail of both streams
 */
export function runQuietly(command, args, { cwd, env, label, timeoutMs = 600_000 } = {}) {
  return new Promise((resolve) => {
    const since = Date.now();
    let output = '';
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const beat = setInterval(() => {
      if (label) say(`  still ${label} (${Math.round((Date.now() - since) / 1000)} s)`);
    }, HEARTBEAT_MS);
    const deadline = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const onSignal = (signal) => endChildren(signal);
    const finish = (ok, extra = '') => {
      clearInterval(beat);
      clearTimeout(deadline);
      running.delete(child);
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(name, onSignal);
      if (ending === undefined) resolve({ ok, output: `${output}${extra}`.trim() });
      else if (running.size === 0) process.exit(ending);
    };
    const keep = (chunk) => {
      output = `${output}${chunk}`.slice(-TAIL_CHARS);
    };
    running.add(child);
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, onSignal);
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => finish(false, error.message));
    child.on('close', (code) => finish(code === 0));
  });
}
