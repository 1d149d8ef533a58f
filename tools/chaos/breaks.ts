/**
 * How a mechanism is broken on purpose: a process that loads this file before its own code runs
 * without the mechanism that CHAOS_BREAK names. What a module of the product exports is replaced;
 * the product itself has no switch for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import type { mongo } from 'mongoose';

import groupQueue = require('../../src/queue/group-queue');
import partitions = require('../../src/queue/partitions');
import sweep = require('../../src/queue/sweep');
import matters = require('../../src/storage/ledger/matters');

import { CONFIRMED } from '../../src/storage/mongo';

import finalize = require('../../src/storage/push-log/finalize');
import log = require('../../src/storage/push-log/log');
import lookups = require('../../src/storage/push-log/lookups');

import { SessionPool } from '../../src/storage/sessions/session-pool';
import { isMechanism, type Mechanism } from './mechanisms';

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

/** @param make gets the original, for what is to stay as it is */
function replace<M extends object, K extends keyof M>(
  module: M,
  member: K,
  make: (original: M[K]) => M[K],
): void {
  module[member] = make(module[member]);
}

/**
 * A commit no longer cares whether the matter is still as it was read, nor (its understudy) whether
 * a push was settled by somebody else meanwhile.
 */
function withoutRevisionGuard(): void {
  replace(matters, 'createLedger', (original) => (connection) => {
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
 * A job that is scheduled while its partition's job is active is forgotten, and the sweep (its
 * understudy) does not find the partition either.
 */
function withoutFollowUps(): void {
  withoutSweep();
  replace(
    Queue.prototype,
    'addBulk',
    (original) =>
      function (this: Queue, jobs) {
        const forgetful = jobs.map((job) => ({
          ...job,
          opts: { ...job.opts, deduplication: { id: job.opts?.deduplication?.id ?? '' } },
        }));
        return original.call(this, forgetful);
      },
  );
}

/** Nobody looks for partitions that hold pushes and have no job. */
function withoutSweep(): void {
  replace(sweep, 'startSweep', () => () => ({ stop: async () => undefined }));
}

/**
 * Workers apply pushes however late it is, and the web process (their understudy) answers at the
 * deadline without ending the push in the log.
 */
function withoutDeadline(): void {
  const forever = 9_999_999_999_999;
  /** The item header that a trim looks for has the deadline in it. */
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
      acknowledge: (batch, replies, sentAt) => {
        const trueDeadline = (id: string) => deadlines.get(id) ?? forever;
        const records = batch.records.map(({ pushes, ...record }) => ({
          ...record,
          pushes: pushes.map((push) => ({ ...push, deadline: trueDeadline(push.id) })),
        }));
        return real.acknowledge({ ...batch, records }, replies, sentAt);
      },
    };
  });
  replace(
    finalize,
    'createFinalize',
    () => () => async (pushes) => pushes.map(({ settlement }) => settlement),
  );
}

/** Workers answer when a write is on its way, and commit it a moment later. */
function withoutWaitForCommit(): void {
  const later = 200;
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
          // After the answer nobody is left to be told.
          underWay.set(as, commit.catch(reject));
        });
      },
  );
}

/** A write counts as confirmed as soon as the primary has it in its memory. */
function withoutMajority(): void {
  Object.assign(CONFIRMED, { w: 1, journal: false });
}

/** Workers do not look whether the same push, by key and body, took effect before. */
function withoutPriorResults(): void {
  replace(lookups, 'createLogLookups', (original) => (connection) => ({
    ...original(connection),
    priorResults: async () => new Map(),
  }));
}

/** Workers commit whatever Redis says of who holds the partitions. */
function withoutOwnership(): void {
  replace(partitions, 'createPartitions', (original) => (redis, keys, limits, time) => ({
    ...original(redis, keys, limits, time),
    isHeld: async () => true,
  }));
}

/**
 * The lines of a batch are queued last line first, and none knows the one before it, behind which (its
 * understudy) it would be skipped.
 */
function withoutLineOrder(): void {
  replace(groupQueue, 'createGroupQueue', (original) => (options) => {
    const queue = original(options);
    return {
      enqueue: async (pushes, timeout) => {
        const unordered = pushes.map(({ previous: _, ...push }) => push);
        return (await queue.enqueue(unordered.reverse(), timeout)).reverse();
      },
    };
  });
}
