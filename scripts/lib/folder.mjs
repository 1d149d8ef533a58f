/** The ignored folder that holds what the set-up fetched, one subfolder per platform. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `.embedded/` of the project; it ignores itself for git. */
export function embeddedFolder(root) {
  const folder = join(root, '.embedded');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.gitignore'), '*\n');
  return folder;
}

/**
 * Binaries differ by platform, and a project folder may be shared between machines.
 * @param {string} kind begins the name of a folder beside the one of the servers
 */
export function platformFolder(root, kind = '') {
  const folder = join(embeddedFolder(root), `${kind}${process.platform}-${process.arch}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}
