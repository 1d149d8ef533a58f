/** The queue board of a process: loaded only where QUEUE_BOARD is on. */
import type { Redis } from 'ioredis';
import type { RedisKeys } from '../../queue/keys';
import type { Logger } from '../../runtime/logger';
import type { Board } from './options';

/**
 * @param redis one that fails fast, and has been ready
 * @returns undefined where it is off
 */
export async function openBoard(
  isOn: boolean,
  redis: Redis,
  keys: RedisKeys,
  logger: Logger,
): Promise<Board | undefined> {
  if (!isOn) return undefined;
  const { createBoard } = await import('./board.js');
  return createBoard(redis, keys, logger);
}
