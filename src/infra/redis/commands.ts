/**
 * Defines the Redis commands of the service. Each command is a Lua script. The file of the script is next to the
 * TypeScript file that defines the command. `defineScript` puts the text of common.lua in front of each script.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisConnection } from './connect';

/** Runs a script. @throws the error of the connection or of the script */
export type Script<R> = (keys: readonly string[], args: readonly (string | number)[]) => Promise<R>;

type Define = (name: string, definition: { readonly lua: string }) => void;
type Call<R> = (keyCount: number, ...keysAndArgs: (string | number)[]) => Promise<R>;

/**
 * Registers the script `<name>.lua` with a connection.
 *
 * @param folder folder of the script: `__dirname` of the caller
 * @param name name of the file in kebab case, without `.lua`; ioredis gets the name in camel case
 * @param shared files in `folder` with functions for several scripts, named without `.lua`. Their texts are inserted
 *   between common.lua and the script
 */
export function defineScript<R>(
  redis: RedisConnection,
  folder: string,
  name: string,
  ...shared: readonly string[]
): Script<R> {
  const files = [...shared, name].map((file) => join(folder, `${file}.lua`));
  const texts = [join(__dirname, 'common.lua'), ...files].map((file) => readFileSync(file, 'utf8'));
  const lua = texts.join('');
  const command = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  (redis.defineCommand as Define)(command, { lua });
  const commands = redis as unknown as Readonly<Record<string, Call<R>>>;
  return (keys, args) => (commands[command] as Call<R>)(keys.length, ...keys, ...args);
}

/** Whether Redis rejected a command because its memory is full (`maxmemory`). The command then had no effect. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /(^|-)OOM /.test(error.message);
}

/** Whether the connection can send a command now. */
export const isRedisReady = (redis: RedisConnection): boolean => redis.status === 'ready';
