/** Defines Redis commands from Lua scripts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisConnection } from './connect';

/** @throws the error of the connection or of the script */
export type Script<R> = (keys: readonly string[], args: readonly (string | number)[]) => Promise<R>;

type Define = (name: string, definition: { readonly lua: string }) => void;
type Call<R> = (keyCount: number, ...keysAndArgs: (string | number)[]) => Promise<R>;

/**
 * Registers the script `<name>.lua` with a connection. Puts common.lua and the shared files before the script.
 *
 * @param folder `__dirname` of the caller
 * @param shared names of files in `folder`, without `.lua`
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

/** Whether Redis rejected a command because of `maxmemory`. A rejected command has no effect. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /(^|-)OOM /.test(error.message);
}

export const isRedisReady = (redis: RedisConnection): boolean => redis.status === 'ready';
