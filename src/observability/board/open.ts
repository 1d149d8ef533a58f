/** The queue board of a process: loaded only where QUEUE_BOARD is on. */
import type { RedisKeys } from '../../queue/keys';
import type { RedisConnection } from '../../queue/redis';
import type { Logger } from '../../runtime/logger';
import type { Beside } from '../metrics/options';

/** Everything of it lies at this path and below, on the internal port. */
export const BOARD_PATH = '/queues';

export interface Board extends Beside {
  close(): Promise<void>;
}

/**
 * @param redis one that fails fast, and has been ready
 * @returns undefined where it is off
 */
export async function openBoard(
  isOn: boolean,
  redis: RedisConnection,
  keys: RedisKeys,
  logger: Logger,
): Promise<Board | undefined> {
  if (!isOn) return undefined;
  const { createBoard } = await import('./board.js');
  const owns = (path: string) => `${path}/`.startsWith(`${BOARD_PATH}/`);
  return { owns, ...createBoard(BOARD_PATH, redis, keys, logger) };
}
