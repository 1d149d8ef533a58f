import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A server program that scripts/lib/servers.mjs has found or downloaded. */
export interface ServerProgram {
  kind: 'path' | 'embedded';
  command: string;
  /** Folders with libraries that the system lacks. Only this program uses them. */
  libraries?: string[];
  /** Name, version and origin of the program, for people. */
  describe: string;
}

/** The folder of the project. It is found from the sources and from dist/. */
export function projectRoot(from: string = __dirname): string {
  if (existsSync(join(from, 'package.json'))) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error('package.json of the project was not found.');
  return projectRoot(parent);
}

/**
 * The program that the set-up has chosen for a server.
 *
 * @throws Error if no set-up has run in this folder
 */
export function chosenProgram(key: 'mongo' | 'redis', root: string = projectRoot()): ServerProgram {
  const home = join(root, '.embedded', `${process.platform}-${process.arch}`);
  const path = join(home, 'servers.json');
  const known: Partial<Record<string, ServerProgram>> = existsSync(path)
    ? JSON.parse(readFileSync(path, 'utf8'))
    : {};
  const program = known[key];
  if (!program) throw new Error(`No ${key} server is set up here yet: run npm test or npm start.`);
  const { command, libraries = [] } = program;
  return {
    ...program,
    command: resolve(home, command),
    libraries: libraries.map((folder) => resolve(home, folder)),
  };
}
