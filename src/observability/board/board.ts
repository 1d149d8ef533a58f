/**
 * Bull Board over the queue of partition jobs, read only: which job waits and which is active, as
 * BullMQ has it. What pushes hold is not in there: a job knows its partition, no more.
 */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { RedisKeys } from '../../queue/keys';
import { readOnlyJobQueues } from '../../queue/partition-job-view';
import type { RedisConnection } from '../../queue/redis';
import type { Logger } from '../../runtime/logger';
import { collectParts, createBoardApp } from './app';

const ABOUT =
  'A job lets one worker work on its partition. What waits in the partitions: matterctl queue stats';

/**
 * @param basePath everything of it lies there and below
 * @throws Error where the files of the board are not as expected
 */
export function createBoard(
  basePath: string,
  redis: RedisConnection,
  keys: RedisKeys,
  logger: Logger,
) {
  const queues = readOnlyJobQueues(redis, keys);
  const adapters = queues.map((queue) => {
    const jobs = new BullMQAdapter(queue, { readOnlyMode: true, description: ABOUT });
    // Of a job's contents the partition alone, whatever a later version may put there.
    jobs.setFormatter('data', ({ partition }) => ({ partition }));
    jobs.setFormatter('name', ({ data }) => `job of partition ${data.partition}`);
    jobs.setFormatter('returnValue', () => undefined);
    return jobs;
  });
  const parts = collectParts((serverAdapter) =>
    createBullBoard({
      queues: adapters,
      serverAdapter,
      // Its documentation is on another host.
      options: { uiConfig: { boardTitle: 'Matter Push', hideDocsLink: true } },
    }),
  );
  const app = createBoardApp(basePath, parts, { pingQueue: () => redis.ping(), logger });
  const close = async () => {
    await Promise.all(queues.map((queue) => queue.close()));
  };
  return { answer: app.callback(), close };
}
