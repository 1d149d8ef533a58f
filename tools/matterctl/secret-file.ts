/** The secret of a client, as a command is given it: in a file that holds nothing else. */
import { readFile } from 'node:fs/promises';
import { CommandFailure } from './failure';

/** @throws CommandFailure where the file is empty; the system's error where it cannot be read */
export async function readSecretFile(path: string): Promise<string> {
  const secret = (await readFile(path, 'utf8')).trim();
  if (secret === '') throw new CommandFailure(`${path} is empty: no secret in it`);
  return secret;
}
