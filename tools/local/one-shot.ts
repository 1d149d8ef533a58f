import { spawn } from 'node:child_process';
import { failureWithLog, openLog } from './log-file';
import { Stopped } from './waiting';

export interface OneShotOptions {
  name: string;
  script: string;
  env: NodeJS.ProcessEnv;
  logFile: string;
  signal?: AbortSignal;
}

const LIMIT_MS = 120_000; // an index build over much data takes its time

/**
 * Runs `node script` to its end.
 * @returns what it printed on stdout; stderr goes to the log
 * @throws with the end of its log when it fails
 */
export async function runOnce(options: OneShotOptions): Promise<string> {
  const { name, script, env, logFile, signal } = options;
  const log = openLog(logFile);
  const child = spawn(process.execPath, [script], {
    detached: true,
    env,
    // With an IPC channel it can tell, as web and worker do, that nobody waits for it any more.
    stdio: ['ignore', 'pipe', log.fd, 'ipc'],
  });
  log.close();
  child.channel?.unref();
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const end = () => child.kill('SIGTERM');
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  signal?.addEventListener('abort', end);
  const how = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, by) => resolve(by ? `signal ${by}` : `exit code ${code}`));
  });
  clearTimeout(limit);
  signal?.removeEventListener('abort', end);
  if (signal?.aborted) throw new Stopped();
  if (how !== 'exit code 0') throw failureWithLog(`${name} failed with ${how}`, logFile);
  return output;
}
