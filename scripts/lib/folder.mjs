/** The folder for the programs that the set-up fetches, in subfolders by kind and platform. git ignores it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Creates `.embedded/` in the project, with a .gitignore that excludes its content. */
export function embeddedFolder(root) {
  const folder = join(root, '.embedded');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.gitignore'), '*\n');
  return folder;
}

/**
 * Binaries differ by platform, and a project folder may be shared between machines.
 * @param {string} kind a prefix of the name of the folder; empty: the folder of the servers
 */
export function platformFolder(root, kind = '') {
  const folder = join(embeddedFolder(root), `${kind}${process.platform}-${process.arch}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}
