/** The queue board of a process: loaded only where QUEUE_BOARD is on. */
import type { RequestListener } from 'node:http';
import type { RedisKeys } from '../../queue/keys';
import type { RedisConnection } from '../../queue/redis';
import type { Logger } from '../../runtime/logger';

/** Everything of it lies at this path and below, on the internal port. */
export const BOARD_PATH = '/queues';

export interface Board {
  /** Answers every request at BOARD_PATH and below, within seconds. */
  readonly answer: RequestListener;
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
  return createBoard(BOARD_PATH, redis, keys, logger);
}
