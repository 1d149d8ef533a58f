import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A pipe that shows when processes have ended. This process and the processes that inherit `writeFd` hold the write
 * end. When the last of these processes ends, for any reason, the kernel closes the write end. The reader then gets
 * end-of-file. No process writes to the pipe.
 */
export interface ParentDeathPipe {
  readFd: number;
  writeFd: number;
}

let pipe: ParentDeathPipe | undefined;

/** The parent-death pipe of this process. The first call creates it. */
export function parentDeathPipe(): ParentDeathPipe {
  pipe ??= makePipe();
  return pipe;
}

// Node has no pipe(2). A fifo whose file is removed when both ends are open works in the same way.
function makePipe(): ParentDeathPipe {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-parent-death-'));
  try {
    const path = join(folder, 'fifo');
    execFileSync('mkfifo', ['-m', '600', path]);
    // Opened for reading and writing, because opening only the write end waits for a reader.
    const writeFd = openSync(path, 'r+');
    return { writeFd, readFd: openSync(path, 'r') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
