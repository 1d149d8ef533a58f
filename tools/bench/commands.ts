/** How many commands the two servers were sent, by whoever is measured. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';

export interface CommandCounts {
  readonly database: number;
  /** Those that run within a script included. */
  readonly redis: number;
}

/** The folder in which processes leave their counts: see peers/count-commands.ts. */
export function countsFolder(folder: string): string {
  const into = join(folder, 'command-counts');
  mkdirSync(into, { recursive: true });
  return into;
}

/** @returns all that was counted since the servers started; of the database as of a moment ago */
export async function readCommands(counts: string, redisUrl: string): Promise<CommandCounts> {
  const database = readdirSync(counts)
    .filter((name) => !name.endsWith('.new'))
    .map((name) => Number(readFileSync(join(counts, name), 'utf8')))
    .reduce((sum, one) => sum + one, 0);
  const redis = new Redis(redisUrl);
  try {
    const info = await redis.info('stats');
    return { database, redis: Number(/^total_commands_processed:(\d+)/m.exec(info)?.[1]) };
  } finally {
    redis.disconnect();
  }
}
