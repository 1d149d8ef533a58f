/** Workers answer when a write is on its way, and commit it a moment later. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { SessionPool } from '../../../src/storage/sessions/session-pool';
import { replace } from './replace';

const LATER = 200;

/** By session. */
const underWay = new Map<string, Promise<unknown>>();

replace(
  SessionPool.prototype,
  'commit',
  (original) =>
    async function <T>(
      this: SessionPool,
      as: string,
      work: (session: mongo.ClientSession) => Promise<T>,
    ) {
      await underWay.get(as);
      return new Promise<T>((resolve, reject) => {
        const commit = original.call(this, as, async (session) => {
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
);
