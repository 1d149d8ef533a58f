/** The writes of a peer: a log entry, the matter, and the settlement of the entry, one after the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type mongo, Types } from 'mongoose';
import { connectMongo, nativeCollection } from '../../../src/infra/mongo';
import { type MatterRecord, matterModel } from '../../../src/storage/ledger';
import { entryModel, type LogEntry } from '../../../src/storage/push-log';
import type { PeerOutcome, PeerPush } from './front';

const DUPLICATE_KEY = 11_000;
const WRITE_CONFLICT = 112;
const MAX_TRIES = 20;

interface PeerLedger {
  /** Writes the log entry of a push in the state QUEUED. */
  log(push: PeerPush): Promise<void>;
  /** Writes the matter, then the outcome in the log. */
  apply(push: PeerPush): Promise<PeerOutcome>;
}

/** Uses the collections, indexes and write concern of the product. */
export async function connectLedger(): Promise<PeerLedger> {
  const connection = await connectMongo(String(process.env.MONGO_URL));
  const entries = nativeCollection(entryModel(connection));
  const matters = nativeCollection(matterModel(connection));
  return {
    log: (push) => insertEntry(entries, push),
    apply: async (push) => {
      const done = await withRetries(() => writeMatter(matters, push));
      await settleEntry(entries, push, done);
      return done;
    },
  };
}

async function insertEntry(entries: mongo.Collection<LogEntry>, push: PeerPush): Promise<void> {
  const { id, clientId, systemCode, externalId, operation, bodyHash, bodySize } = push;
  const receivedAt = new Date(push.receivedAt);
  await entries.insertOne({
    _id: new Types.ObjectId(id),
    ...{ clientId, systemCode, operation: operation.op, externalId, bodyHash, bodySize },
    ...{ receivedAt, deadlineAt: new Date(push.receivedAt + 10_000), state: 'QUEUED' },
  });
}

async function writeMatter(
  matters: mongo.Collection<MatterRecord>,
  push: PeerPush,
): Promise<PeerOutcome> {
  const { systemCode, externalId } = push;
  const now = new Date();
  const found = await matters.findOneAndUpdate(
    { systemCode, externalId },
    {
      $set: { ...fieldsOf(push), updatedAt: now },
      $setOnInsert: { createdAt: now },
      $inc: { revision: 1 },
    },
    {
      upsert: push.operation.op === 'upsert',
      ...{ returnDocument: 'after' as const, projection: { revision: 1 } },
    },
  );
  if (!found) throw new Error(`no matter ${externalId}`);
  const outcome = found.revision === 1 ? 'CREATED' : 'UPDATED';
  // The id of the database, converted to the form of a matter id.
  const matterId = BigInt(`0x${String(found._id).slice(0, 15)}`);
  return { matterId: String(matterId), outcome };
}

async function settleEntry(
  entries: mongo.Collection<LogEntry>,
  { id }: PeerPush,
  { matterId, outcome }: PeerOutcome,
): Promise<void> {
  await entries.updateOne(
    { _id: new Types.ObjectId(id) },
    {
      $set: {
        ...{ state: 'PERSISTED', result: outcome, settledAt: new Date() },
        matterId: BigInt(matterId),
      },
    },
  );
}

/** @throws Error for a re-opening, which no peer implements */
function fieldsOf({ operation }: PeerPush): Partial<MatterRecord> {
  const { sourceUpdatedAt } = operation;
  const instant = {
    sourceUpdatedAt: sourceUpdatedAt === undefined ? null : new Date(sourceUpdatedAt),
  };
  switch (operation.op) {
    case 'status':
      return { ...(operation.bizStatus && { bizStatus: operation.bizStatus }), ...instant };
    case 'delete':
      return { deleted: true, deletedAt: new Date(), ...instant };
    case 'upsert': {
      const { matterType, title, content, bizStatus = 'PENDING', parties } = operation;
      const { deadlineAt, ...texts } = content;
      return {
        ...texts,
        ...(deadlineAt && { deadlineAt: new Date(deadlineAt) }),
        ...{ matterType, title, bizStatus, phase: 'OPEN', deleted: false, priorityRank: 0 },
        ...instant,
        parties: (parties ?? []).map((party) => ({ ...party, displayName: '', unread: true })),
        pastHandlers: [],
      };
    }
    default:
      throw new Error(`a peer knows no ${operation.op}`);
  }
}

/** Repeats a write after a conflict: two upserts of a new key, or two updates of one matter, at the same time. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      const isRace = code === DUPLICATE_KEY || code === WRITE_CONFLICT;
      if (!isRace || tries >= MAX_TRIES) throw error;
      await sleep(Math.random() * 5 * tries);
    }
  }
}
