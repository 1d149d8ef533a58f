/** Workers answer when a write is on its way, and commit it a moment later. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import * as sessions from '../../../src/storage/session-pool';
import { replace } from './replace';

const LATER = 200;

replace(sessions, 'createSessionPool', (original) => (connection, logger) => {
  const real = original(connection, logger);
  const underWay = new Map<string, Promise<unknown>>();
  return {
    ...real,
    commit: async <T>(as: string, work: (session: mongo.ClientSession) => Promise<T>) => {
      await underWay.get(as);
      return new Promise<T>((resolve, reject) => {
        const commit = real.commit(as, async (session) => {
          const result = work(session);
          await result;
          resolve(result);
          await sleep(LATER);
          return result;
        });
        // After the answer nobody is left to be told.
        underWay.set(as, commit.catch(reject));
      });
    },
  };
});
