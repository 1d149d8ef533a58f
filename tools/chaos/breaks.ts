/**
 * Removes the mechanism that CHAOS_BREAK names, in a process that loads this file before its own code. It replaces
 * exports of the service's modules, because the service has no switch for this.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import type { mongo } from 'mongoose';

import balance = require('../../src/queue/balance');
import partitions = require('../../src/queue/commands/partitions');
import producer = require('../../src/queue/producer');
import ledgers = require('../../src/storage/ledger');
import log = require('../../src/storage/push-log');

import { MAJORITY_WRITE_CONCERN } from '../../src/infra/mongo';

import { SessionPool } from '../../src/storage/sessions';
import { isMechanism, type Mechanism } from './mechanisms';
import { replace } from './replace';

const BREAKS: Readonly<Record<Mechanism, () => void>> = {
  'revision-guard': withoutRevisionGuard,
  'keep-last-if-active': withoutFollowUps,
  sweep: withoutSweep,
  deadline: withoutDeadline,
  'confirmed-write': withoutWaitForCommit,
  majority: withoutMajority,
  idempotency: withoutPriorResults,
  ownership: withoutOwnership,
  'line-order': withoutLineOrder,
};

const name = process.env.CHAOS_BREAK ?? '';
if (isMechanism(name)) BREAKS[name]();

/**
 * A commit ignores whether the matter has changed since it was read, and (the second mechanism) whether another
 * process has settled the push.
 */
function withoutRevisionGuard(): void {
  replace(ledgers, 'createLedger', (original) => (connection) => {
    const ledger = original(connection);
    return {
      load: ledger.load,
      write: async (changes, session) => {
        const stored = await ledger.load(changes.map(({ after }) => after));
        const revisions = new Map(stored.map(({ matterId, revision }) => [matterId, revision]));
        const unguarded = changes.map(({ before, after }) => ({
          before: before && { ...before, revision: revisions.get(before.matterId) ?? 0 },
          after,
        }));
        await ledger.write(unguarded, session);
        return changes.length;
      },
    };
  });
  replace(log, 'createPushLog', (original) => (connection, options) => {
    const pushLog = original(connection, options);
    return {
      ...pushLog,
      settle: async (pushes, by) => {
        await pushLog.settle(pushes, by);
        return pushes.length;
      },
    };
  });
}

/**
 * A job that is scheduled while its partition's job is active is dropped, and there is no sweep (the second mechanism).
 */
function withoutFollowUps(): void {
  withoutSweep();
  replace(
    Queue.prototype,
    'addBulk',
    (original) =>
      function (this: Queue, jobs) {
        const withoutFollowUp = jobs.map((job) => ({
          ...job,
          opts: { ...job.opts, deduplication: { id: job.opts?.deduplication?.id ?? '' } },
        }));
        return original.call(this, withoutFollowUp);
      },
  );
}

/** No worker looks for partitions that have pushes and no job. */
function withoutSweep(): void {
  replace(balance, 'startSweep', () => () => ({ stop: async () => undefined }));
}

/**
 * Workers apply pushes after their deadline, and the web process (the second mechanism) answers at the deadline without
 * finalizing the push in the log.
 */
function withoutDeadline(): void {
  const forever = 9_999_999_999_999;
  /** By request id: an acknowledgement needs the real deadline, which is part of the item header. */
  const deadlines = new Map<string, number>();
  replace(partitions, 'createPartitions', (original) => (redis, keys, limits, time) => {
    const real = original(redis, keys, limits, time);
    return {
      ...real,
      read: async (wanted, options) => {
        const batch = await real.read(wanted, options);
        const records = batch.records.map(({ pushes, ...record }) => {
          for (const { id, deadline } of pushes) deadlines.set(id, deadline);
          return { ...record, pushes: pushes.map((push) => ({ ...push, deadline: forever })) };
        });
        return { ...batch, records };
      },
      replyAndRemove: (batch, replies, sentAt) => {
        const trueDeadline = (id: string) => deadlines.get(id) ?? forever;
        const records = batch.records.map(({ pushes, ...record }) => ({
          ...record,
          pushes: pushes.map((push) => ({ ...push, deadline: trueDeadline(push.id) })),
        }));
        return real.replyAndRemove({ ...batch, records }, replies, sentAt);
      },
    };
  });
  replace(
    log,
    'createFinalize',
    () => () => async (pushes) => pushes.map(({ settlement }) => settlement),
  );
}

/** Workers reply before the commit, and commit half a minute later. */
function withoutWaitForCommit(): void {
  const later = 30_000;
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
            await sleep(later);
            return result;
          });
          // After the reply a failure has no receiver.
          underWay.set(as, commit.catch(reject));
        });
      },
  );
}

/** A write counts as confirmed when the primary has it in memory. */
function withoutMajority(): void {
  Object.assign(MAJORITY_WRITE_CONCERN, { w: 1, journal: false });
}

/** Workers do not check whether a push with the same key and body took effect before. */
function withoutPriorResults(): void {
  replace(log, 'createLogLookups', (original) => (connection) => ({
    ...original(connection),
    priorEntries: async () => new Map(),
  }));
}

/** Workers commit even if Redis reports another owner of the partitions. */
function withoutOwnership(): void {
  replace(partitions, 'createPartitions', (original) => (redis, keys, limits, time) => ({
    ...original(redis, keys, limits, time),
    isOwned: async () => true,
  }));
}

/**
 * The lines of a batch are queued in reverse order, and no line names its previous line, after whose failure it would
 * be skipped (the second mechanism).
 */
function withoutLineOrder(): void {
  replace(producer, 'createGroupQueue', (original) => (options) => {
    const queue = original(options);
    return {
      enqueue: async (pushes, timeout) => {
        const unordered = pushes.map(({ previous: _, ...push }) => push);
        return (await queue.enqueue(unordered.reverse(), timeout)).reverse();
      },
    };
  });
}
