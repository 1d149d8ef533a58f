import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const ROTATE_BYTES = 50 * 1024 * 1024;
const TAIL_LINES = 15;

/**
 * Opens a log file for stdout and stderr of a process. A large file is first renamed to `<path>.1`, which replaces an
 * older one.
 */
export function openLog(path: string): { fd: number; close(): void } {
  mkdirSync(dirname(path), { recursive: true });
  if (sizeOf(path) > ROTATE_BYTES) renameSync(path, `${path}.1`);
  const fd = openSync(path, 'a');
  return { fd, close: () => closeSync(fd) };
}

/** The last lines of a log, or a note that it is empty. */
export function tailOf(path: string, lines = TAIL_LINES): string {
  if (sizeOf(path) === 0) return '(the log is empty)';
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
}

/** An error whose message contains the end of the log. */
export function failureWithLog(what: string, logFile: string): Error {
  return new Error(`${what}. The end of ${logFile}:\n${tailOf(logFile)}`);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
