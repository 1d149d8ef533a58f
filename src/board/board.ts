/**
 * Bull Board over the queue of turns, read only: whose turn it is, as BullMQ has it. What pushes hold is
 * not in there: a turn knows its partition, no more.
 */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { Redis } from 'ioredis';
import type { Logger } from '../logger';
import type { RedisKeys } from '../queue/keys';
import { lookAtTurns } from '../queue/turn-view';
import { createBoardApp } from './app';
import { BOARD_PATH, type Board } from './options';
import { collectParts } from './parts';

const ABOUT =
  'One job is one turn of a partition. What waits in the partitions: matterctl queue stats';

/** @throws Error where the files of the board are not as expected */
export function createBoard(redis: Redis, keys: RedisKeys, logger: Logger): Board {
  const queue = lookAtTurns(redis, keys);
  const turns = new BullMQAdapter(queue, { readOnlyMode: true, description: ABOUT });
  // Of a job's contents the partition alone, whatever a later version may put there.
  turns.setFormatter('data', ({ partition }) => ({ partition }));
  turns.setFormatter('name', ({ data }) => `turn of partition ${data.partition}`);
  turns.setFormatter('returnValue', () => undefined);
  const parts = collectParts((serverAdapter) =>
    createBullBoard({
      queues: [turns],
      serverAdapter,
      // Its documentation is on another host.
      options: { uiConfig: { boardTitle: 'Matter Push', hideDocsLink: true } },
    }),
  );
  const app = createBoardApp(BOARD_PATH, parts, { pingQueue: () => redis.ping(), logger });
  return { answer: app.callback(), close: () => queue.close() };
}
