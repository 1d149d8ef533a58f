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
    removeWithOthers(join(tmpdir(), name));
  }
  return mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
}

/** Another process may remove the same folder at the same time. */
function removeWithOthers(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}
