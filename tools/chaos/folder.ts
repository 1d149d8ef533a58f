/** A folder for the data and the logs of a run, which goes with it; its logs stay where it failed. */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRunFolder } from '../local/run-folder';

const FOLDER = 'matter-push-chaos-';
/** Of another name, since the next run removes the folders of this one. */
const KEPT = 'matter-push-logs-';

interface FolderOptions {
  /** Told where the logs are, where they stay. */
  readonly say: (text: string) => void;
  /** A run that was given up has not failed. */
  readonly signal?: AbortSignal;
}

/** @param work may ask for the logs to be kept; they are, where it throws */
export async function inFolder<T>(
  { say, signal }: FolderOptions,
  work: (folder: string, keepLogs: () => void) => Promise<T>,
): Promise<T> {
  const folder = makeRunFolder(FOLDER);
  let isKept = false;
  const keepLogs = () => {
    isKept = true;
  };
  try {
    return await work(folder, keepLogs);
  } catch (error) {
    if (!signal?.aborted) keepLogs();
    throw error;
  } finally {
    if (isKept) moveLogs(folder, say);
    rmSync(folder, { recursive: true, force: true });
  }
}

function moveLogs(folder: string, say: (text: string) => void): void {
  const logs = join(folder, 'logs');
  if (!existsSync(logs)) return;
  const kept = mkdtempSync(join(tmpdir(), KEPT));
  renameSync(logs, join(kept, 'logs'));
  say(`The logs of the processes are in ${join(kept, 'logs')}`);
}
