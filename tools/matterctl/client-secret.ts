/** Reads and writes secrets of clients in files, because a secret on a command line or a terminal ends up in logs. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { CommandFailure, usageFailure } from './failure';
import { readLineFile } from './text-file';

/**
 * Reads a file that contains only a secret.
 *
 * @throws CommandFailure if it is empty; the system error if it cannot be read
 */
export async function readSecretFile(path: string): Promise<string> {
  const secret = await readLineFile(path);
  if (secret === '') throw new CommandFailure(`${path} is empty: no secret in it`);
  return secret;
}

export interface SecretOutOptions {
  readonly secretOut?: string;
}

/** Adds the option with which a command writes a new secret to a file instead of printing it. */
export const withSecretOut = (command: Command) =>
  command.option('--secret-out <file>', 'write the secret there (mode 0600), and print none');

/** How a command shows a new secret: `secret` is printed; `secretFile` is the file that contains the secret. */
export type SecretShown = { readonly secret: string } | { readonly secretFile: string };

/**
 * Creates a secret and writes it, with a line feed, to a new file. It opens the file first, so that no secret is
 * created that cannot be written.
 *
 * @param path undefined: the secret is printed
 * @param make creates the secret; if it throws, the file is removed
 * @returns the result of `make`, and how the command shows the secret
 * @throws CommandFailure if the file exists already or cannot be written
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
    throw usageFailure(`${path} is there already and is never written over: nothing was changed`);
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
