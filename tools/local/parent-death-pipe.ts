import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A pipe whose write end is held by this process and by the processes that it hands it to. The
 * kernel closes it when the last of them is gone, whichever way they went, so a reader that sees
 * its end knows that nobody is left to serve. Nothing is ever written to it.
 */
export interface ParentDeathPipe {
  readFd: number;
  writeFd: number;
}

let line: ParentDeathPipe | undefined;

/** The parent-death pipe of this process, made on first use. */
export function parentDeathPipe(): ParentDeathPipe {
  line ??= makePipe();
  return line;
}

// Node has no pipe(2). A fifo that is unlinked once both its ends are open is the same thing.
function makePipe(): ParentDeathPipe {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-parent-death-'));
  try {
    const path = join(folder, 'fifo');
    execFileSync('mkfifo', ['-m', '600', path]);
    // Opened for both, since opening one end alone waits for the other.
    const writeFd = openSync(path, 'r+');
    return { writeFd, readFd: openSync(path, 'r') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
