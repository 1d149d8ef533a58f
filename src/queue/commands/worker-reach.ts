/**
 * Workers report in Redis that they reach the database. The reports help other workers to decide whether to pause or
 * resume (workers/cut-off.ts).
 */

import { defineScript } from '../../infra/redis/commands';
import type { RedisConnection } from '../../infra/redis/connect';
import type { RedisKeys } from '../keys';

export type WorkerReach = ReturnType<typeof createWorkerReach>;

export function createWorkerReach(redis: RedisConnection, keys: RedisKeys, id: string) {
  const report = defineScript<number>(redis, __dirname, 'report-reach');
  const findOther = defineScript<number>(redis, __dirname, 'find-other-reach');
  return {
    /** @param answeredFor milliseconds for which the database has answered all pings of this worker */
    report: async (answeredFor: number): Promise<void> => {
      await report([keys.workerReach], [id, Math.round(answeredFor)]);
    },
    /**
     * Removes the report of this worker before the check. A worker pauses only if another worker reaches the
     * database. If both reports remained, two workers could see the report of each other and both pause.
     *
     * @param atLeastFor minimum milliseconds for which the database has answered the other worker
     * @param within maximum age of the report of the other worker, milliseconds
     * @throws the connection's error
     */
    isReachedByOther: async (atLeastFor: number, within: number): Promise<boolean> => {
      const times = [Math.round(atLeastFor), Math.round(within)];
      return (await findOther([keys.workerReach, keys.workers], [id, ...times])) === 1;
    },
  };
}
