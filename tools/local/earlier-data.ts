import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './error-code';
import { DATA_FOLDER } from './mongod';

/**
 * What is to be said of data that an embedded server of an earlier version left: it is not ours to
 * read or to remove.
 *
 * @param dir where the MongoDB of npm start keeps its data
 * @returns a line for each such folder
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
