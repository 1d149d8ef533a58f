/**
 * A process that loads this file reports the points of `point-server.ts` that it reaches. At each point it waits for
 * the answer of the run.
 */
import { Queue } from 'bullmq';
import type { mongo } from 'mongoose';

import partitions = require('../../src/queue/commands/partitions');
import consumer = require('../../src/queue/consumer');
import ledgers = require('../../src/storage/ledger');

import { SessionPool } from '../../src/storage/sessions';
import type { Point } from './point-server';
import { replace } from './replace';

/** Continues without an answer if the run has ended. */
async function reach(point: Point): Promise<void> {
  await fetch(`${process.env.CHAOS_POINTS}/${point}/${process.pid}`).catch(() => undefined);
}

/** The last question to Redis whether this worker owns the partitions of a batch. */
let ownershipCheck: Promise<unknown> = Promise.resolve();

replace(partitions, 'createPartitions', (original) => (redis, keys, limits, time) => {
  const real = original(redis, keys, limits, time);
  return {
    ...real,
    read: async (wanted, options) => {
      const batch = await real.read(wanted, options);
      if (batch.records.some(({ pushes }) => pushes.length > 0)) await reach('batch-read');
      return batch;
    },
    isOwned: (batch) => {
      const check = real.isOwned(batch);
      ownershipCheck = check.catch(() => undefined);
      return check;
    },
  };
});

replace(ledgers, 'createLedger', (original) => (connection) => {
  const real = original(connection);
  return {
    ...real,
    write: async (changes, session) => {
      await ownershipCheck;
      await reach('ownership-checked');
      return real.write(changes, session);
    },
  };
});

replace(
  SessionPool.prototype,
  'commit',
  (original) =>
    async function <T>(
      this: SessionPool,
      id: string,
      work: (session: mongo.ClientSession) => Promise<T>,
    ) {
      try {
        return await original.call(this, id, work);
      } finally {
        await reach('commit-ended');
      }
    } as typeof original,
);

replace(
  Queue.prototype,
  'addBulk',
  (original) =>
    async function (this: Queue, jobs) {
      await reach('job-due');
      return original.call(this, jobs);
    },
);

replace(
  consumer.GroupWorker.prototype,
  'close',
  (original) =>
    async function (this: InstanceType<typeof consumer.GroupWorker>) {
      const closed = original.call(this);
      await reach('drain-begun');
      return closed;
    },
);
