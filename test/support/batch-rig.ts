/** A worker's batch without its process: the function that applies pushes, on the real database. */
import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import pino from 'pino';
import type { Operation } from '../../src/domain/operation';
import { connectMongo } from '../../src/infra/mongo';
import { NO_METRICS } from '../../src/observability/metrics';
import type { Batch, WaitingPush } from '../../src/queue/records';
import { createUserDirectory } from '../../src/storage/directory/users';
import { createLedger, createSnowflakes } from '../../src/storage/ledger';
import { createFinalize, createPushLog, type PushLog } from '../../src/storage/push-log';
import { createLogLookups } from '../../src/storage/push-log/lookups';
import { prepareDatabase } from '../../src/storage/schema';
import { SessionPool } from '../../src/storage/sessions';
import { createProcessBatch } from '../../workers/process-batch';
import { aPush } from './builders';
import { aLogEntry } from './log-entries';
import { testServers, withDatabase, withPatience } from './service';

export interface BatchRig {
  readonly db: Connection;
  readonly pushLog: PushLog;
  /**
   * A worker of its own: applying on two of them is what two processes do.
   *
   * @param afterLoad runs once, between the batch's first read of the ledger and its write
   */
  newWorker(
    afterLoad?: () => Promise<unknown>,
    hooks?: WorkerHooks,
  ): ReturnType<typeof createProcessBatch>;
  /** Records a push in the log, as a web process does, and gives it as a batch would read it. */
  queued(
    externalId: string,
    operation: Operation,
    more?: Partial<WaitingPush>,
  ): Promise<WaitingPush>;
  close(): Promise<void>;
}

export interface WorkerHooks {
  /** Runs once, after the batch's first look for final states. */
  afterLookup?(): Promise<unknown>;
  /** Whether the worker still owns the partitions of the batch. By default it does. */
  isOwned?(batch: Batch): Promise<boolean>;
  /** Runs after each read of the ledger. */
  everyLoad?(): Promise<unknown>;
  /** Runs after each write of matters, before the commit. */
  afterWrite?(): void;
}

/** @param mongoUrl another database server than that of all tests */
export async function createBatchRig(
  mongoUrl = withPatience(testServers().mongoUrl),
): Promise<BatchRig> {
  const name = `t-${randomBytes(5).toString('hex')}`;
  const db = await connectMongo(withDatabase(mongoUrl, name));
  await prepareDatabase(db, {
    retention: 86_400_000,
    bodyRetention: 86_400_000,
    concluded: ['DONE'],
  });
  const pushLog = createPushLog(db);
  const lookups = createLogLookups(db);
  const logger = pino({ level: 'silent' });
  const sessions: SessionPool[] = [];
  const newSessions = () => {
    const one = new SessionPool(db, logger, 'test');
    sessions.push(one);
    return one;
  };
  let workers = 0;
  return {
    db,
    pushLog,
    newWorker: (afterLoad, { isOwned = async () => true, ...hooks } = {}) => {
      const number = workers++;
      const ledger = createLedger(db);
      let interrupt = afterLoad;
      let interruptLookup = hooks.afterLookup;
      const own = newSessions();
      const apply = createProcessBatch({
        ledger: {
          write: async (changes, session) => {
            const written = await ledger.write(changes, session);
            hooks.afterWrite?.();
            return written;
          },
          load: async (keys) => {
            const found = await ledger.load(keys);
            const now = interrupt;
            interrupt = undefined;
            await now?.();
            await hooks.everyLoad?.();
            return found;
          },
        },
        pushLog,
        partitions: { isOwned, noteOwnersKnown: async () => undefined },
        lookups: {
          ...lookups,
          settlements: async (ids) => {
            const found = await lookups.settlements(ids);
            const now = interruptLookup;
            interruptLookup = undefined;
            await now?.();
            return found;
          },
        },
        finalize: createFinalize(pushLog, lookups),
        users: createUserDirectory(db, Date.now),
        sessions: own,
        clock: Date.now,
        newMatterId: createSnowflakes(() => number, Date.now),
        concluded: new Set(['DONE']),
        workerName: `worker-${number}`,
        logger,
        metrics: NO_METRICS,
      });
      return (batch) => apply({ ...batch, session: own.idOf(0) });
    },
    queued: async (externalId, operation, more) => {
      const { idempotencyKey, idempotencyFingerprint } = more ?? {};
      const now = Date.now();
      const deadline = now + 60_000;
      const entry = aLogEntry({
        ...{ operation: operation.op, externalId, deadlineAt: new Date(deadline) },
        ...(idempotencyKey && { idempotencyKey }),
        ...(idempotencyFingerprint && { idempotencyFingerprint }),
      });
      await pushLog.append(entry);
      const id = String(entry._id);
      const push = aPush({ id, clientId: 'tester', systemCode: 'TEST', externalId, operation });
      return { ...push, deadline, queuedAt: now, ...more };
    },
    close: async () => {
      await Promise.all(sessions.map((one) => one.end()));
      await db.dropDatabase();
      await db.close();
    },
  };
}

/** What a batch reads where one partition holds these pushes. */
export function batchOf(pushes: readonly WaitingPush[]): Batch {
  return {
    owner: 'none',
    session: 'none',
    fencedOwners: [],
    unknownShards: [],
    now: Date.now(),
    records: [{ partition: 0, pushes, bytes: 0, now: Date.now() }],
    unread: new Map(),
  };
}
