/** Temporary folders of processes. The name of a folder contains the pid of its process. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode } from './error-code';

/**
 * Creates a folder for this process, and removes the folders of killed processes.
 *
 * @param prefix prefix of the names, including its last hyphen
 */
export function makeRunFolder(prefix: string): string {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const pid = /^(\d+)-/.exec(name.slice(prefix.length))?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  return mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}
