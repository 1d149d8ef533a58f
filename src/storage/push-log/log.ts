/** Writes of the push log: an entry before a push is queued, its settlement with the commit. */
import { type Connection, type mongo, Types } from 'mongoose';
import type { FieldChange } from '../../domain/changes';
import { NO_ASSIGNEE } from '../../protocol/warnings';
import { nativeCollection } from '../mongo';
import { type AppendFailures, type AppendOptions, createAppend } from './append';
import type { LoggedBody } from './body-model';
import { entryModel, type LogEntry } from './entry-model';
import { resultOf, type Settlement } from './settlement';

/** One push's end. */
export interface SettledPush {
  /** Request id. */
  readonly id: string;
  readonly settlement: Settlement;
  /** The matter's revision after it, where it changed the matter: the order of effects. */
  readonly revision?: number;
  /**
   * Lets retries with the same key and body find this push as their prior result. The entry has it from
   * the start, unless a `web` process of an earlier version has made it.
   */
  readonly idempotencyFingerprint?: string;
  /** The idempotency key was used before with another body. */
  readonly mark?: 'KEY_REUSED';
  /** When it was in its partition, epoch milliseconds of the queue's clock. */
  readonly queuedAt?: number;
  /** What it changed, where it did. */
  readonly changes?: readonly FieldChange[];
  /** Epoch milliseconds; see LogEntry. */
  readonly stale?: { readonly sent: number; readonly stored: number };
}

export interface PushLog {
  /**
   * Records an entry and, where given, the body that was sent; confirmed. Entries that come together
   * are written together (see append.ts).
   *
   * @throws the driver's error, where it did not succeed in the time that the entry's deadline leaves
   */
  append(entry: LogEntry, body?: Uint8Array): Promise<void>;
  /**
   * The same for many at once, of one deadline; none stands in the way of another.
   *
   * @returns the entries that were not recorded, with the driver's error of each
   */
  appendAll(pushes: readonly UnloggedPush[]): Promise<AppendFailures>;
  /**
   * Settles entries that are still queued, within the transaction of their effect or alone.
   *
   * @returns how many were settled; fewer than asked: some push was settled before, so it must not
   *   take effect again and the transaction must not be committed
   */
  settle(pushes: readonly SettledPush[], by: Settling): Promise<number>;
}

export interface Settling {
  /** Epoch milliseconds. */
  readonly now: number;
  /** When the batch took the pushes up, epoch milliseconds of the queue's clock. */
  readonly startedAt?: number;
  /** Who settles: a process name. */
  readonly worker: string;
  readonly session?: mongo.ClientSession;
  /** Milliseconds after which the server is to stop waiting for entries that somebody else holds. */
  readonly timeout?: number;
}

/** An entry with the body that was sent. */
export interface UnloggedPush {
  readonly entry: LogEntry;
  readonly body: Uint8Array | undefined;
}

/** A document has a limit; a larger body is logged with its hash and size alone. */
const MAX_BODY = 8 * 1024 * 1024;

export interface PushLogOptions extends AppendOptions {
  /** False: bodies are not stored (PUSH_BODY_RETENTION is 0). */
  readonly keepBodies?: boolean;
}

export function createPushLog(connection: Connection, options: PushLogOptions = {}): PushLog {
  const { keepBodies = true } = options;
  const append = createAppend(connection, options);
  const collection = nativeCollection<LogEntry>(entryModel(connection));
  const keptBody = (entry: LogEntry, sent: Uint8Array | undefined) => {
    const isKept = keepBodies && sent !== undefined && sent.length <= MAX_BODY;
    return isKept ? bodyOf(entry, sent) : undefined;
  };
  return {
    append: async (entry, sent) => {
      const failure = (await append([{ entry, body: keptBody(entry, sent) }])).get(entry);
      if (failure) throw failure;
    },
    appendAll: (pushes) =>
      append(pushes.map(({ entry, body }) => ({ entry, body: keptBody(entry, body) }))),
    settle: async (pushes, by) => {
      if (pushes.length === 0) return 0;
      const writes = pushes.map((push) => toWrite(push, by));
      const { session, timeout: maxTimeMS } = by;
      const result = await collection.bulkWrite(writes, {
        ordered: false,
        ...(session && { session }),
        ...(maxTimeMS !== undefined && { maxTimeMS }),
      });
      return result.matchedCount;
    },
  };
}

function bodyOf({ _id, receivedAt, expireAt }: LogEntry, sent: Uint8Array): LoggedBody {
  // Its bytes are not copied: nobody writes into what was received.
  const body = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  return expireAt ? { _id, receivedAt, expireAt, body } : { _id, receivedAt, body };
}

function toWrite(
  push: SettledPush,
  { now, startedAt, worker }: Settling,
): mongo.AnyBulkWriteOperation<LogEntry> {
  const { id, settlement, revision, idempotencyFingerprint, mark, queuedAt, changes, stale } = push;
  const isUnseen = 'unseen' in settlement && settlement.unseen;
  return {
    updateOne: {
      filter: { _id: new Types.ObjectId(id), state: 'QUEUED' },
      hint: '_id_',
      update: {
        $set: {
          settledAt: new Date(now),
          worker,
          ...resultOf(settlement),
          ...(queuedAt !== undefined && { queuedAt: new Date(queuedAt) }),
          ...(startedAt !== undefined && { startedAt: new Date(startedAt) }),
          ...(revision !== undefined && { revision }),
          ...(idempotencyFingerprint !== undefined && { idempotencyFingerprint }),
          ...(mark && { mark }),
          ...(changes && { changes }),
          ...(stale && { stale: { sent: new Date(stale.sent), stored: new Date(stale.stored) } }),
        },
        // Only what took effect, or still may, is a retry's prior result.
        ...(settlement.state !== 'PERSISTED' && { $unset: { idempotencyFingerprint: 1 } }),
        // Added to the warnings that were known when the push was queued.
        ...(isUnseen && { $push: { warnings: NO_ASSIGNEE } }),
      },
    },
  };
}
