/** The file that `matterctl push` takes to mend what differs: there only once it is whole. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { RepushLine } from './repush';

export interface RepushFile {
  add(line: RepushLine): void;
  /** Puts it in its place; without a line, one of an earlier run is taken away. */
  finish(): void;
  /** Leaves nothing of it behind. */
  discard(): void;
}

/** While it is written it has another name: half a file would mend half of what differs. */
export const partOf = (path: string) => `${path}.part`;

/** @param path what stands there is replaced */
export function createRepushFile(path: string): RepushFile {
  const part = partOf(path);
  let fd: number | undefined;
  const close = () => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  return {
    add: (line) => {
      fd ??= open(part);
      writeSync(fd, `${JSON.stringify(line)}\n`);
    },
    finish: () => {
      if (fd === undefined) {
        rmSync(path, { force: true });
        return;
      }
      fsyncSync(fd);
      close();
      renameSync(part, path);
    },
    discard: () => {
      close();
      rmSync(part, { force: true });
    },
  };
}

/** A new file: one that was left behind may have other permissions. */
function open(part: string): number {
  rmSync(part, { force: true });
  return openSync(part, 'wx', 0o600);
}
