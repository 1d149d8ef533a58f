/** Secrets of clients in files: what is typed or printed ends up in logs and histories. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { CommandFailure, EXIT_USAGE } from './failure';
import { readLineFile } from './text-file';

/** The secret in a file that holds nothing else. @throws CommandFailure where the file is empty; the system's error where it cannot be read */
export async function readSecretFile(path: string): Promise<string> {
  const secret = await readLineFile(path);
  if (secret === '') throw new CommandFailure(`${path} is empty: no secret in it`);
  return secret;
}

export interface SecretOutOptions {
  readonly secretOut?: string;
}

/** Commands that make a secret can write it to a file instead of the terminal. */
export const withSecretOut = (command: Command) =>
  command.option('--secret-out <file>', 'write the secret there (mode 0600), and print none');

/** What became of a secret: `secret` where it is to be printed, `secretFile` where it was written. */
export type SecretShown = { readonly secret: string } | { readonly secretFile: string };

/**
 * Makes a secret and writes it, with a line feed, to a file that was not there before: the file is
 * opened first, so that no secret is made that cannot be kept.
 *
 * @param make what makes the secret; where it throws, no file is left
 * @returns what `make` gave, and what is to be shown of its secret
 * @throws CommandFailure where the file is there already, or cannot be written
 */
export async function keepSecret<T extends { readonly secret: string }>(
  path: string | undefined,
  make: () => Promise<T>,
): Promise<{ made: T; shown: SecretShown }> {
  if (path === undefined) {
    const made = await make();
    return { made, shown: { secret: made.secret } };
  }
  const file = await create(path);
  try {
    const made = await make().catch(async (error) => {
      await rm(path, { force: true });
      throw error;
    });
    await write(file, path, made.secret);
    return { made, shown: { secretFile: path } };
  } finally {
    await file.close();
  }
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CommandFailure(
      `${path} is there already and is never written over: nothing was changed`,
      EXIT_USAGE,
    );
  }
}

async function write(file: FileHandle, path: string, secret: string): Promise<void> {
  try {
    await file.writeFile(`${secret}\n`);
    await file.sync();
  } catch (error) {
    throw new CommandFailure(
      `the secret was made, but cannot be written to ${path} (${(error as Error).message}): "client rotate" makes another one`,
    );
  }
}
