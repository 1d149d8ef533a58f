import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './error-code';
import { DATA_FOLDER } from './mongod';

/**
 * Finds data of an embedded server of an earlier version. `npm start` does not read it and does not remove it.
 *
 * @param dir data folder of the MongoDB of `npm start`
 * @returns a line for the user for each such folder
 */
export function earlierDataNotes(dir: string): string[] {
  return foldersIn(dir)
    .filter((name) => name !== DATA_FOLDER)
    .map((name) => join(dir, name))
    .filter((path) => readdirSync(path).length > 0)
    .map(
      (path) =>
        `The data of the earlier embedded server (in ${path}) is not read, and is left alone: ` +
        'push again what is still wanted of it, then delete the folder',
    );
}

function foldersIn(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
