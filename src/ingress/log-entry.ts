/** The push-log entry of a request (decisions, "Idempotency key and push log"). */
import { createHash } from 'node:crypto';
import { Types } from 'mongoose';
import type { OperationName } from '../domain/operation';
import type { PushError } from '../errors';
import type { LogEntry } from '../push-log/entry-model';

export interface EntrySource {
  readonly requestId: string;
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly secretId?: string;
  readonly operation: OperationName;
  readonly idempotencyKey?: string | undefined;
  readonly rawBody: Uint8Array;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** How long the caller waits, milliseconds. */
  readonly timeout: number;
}

/** A queued entry; with `replays`, its key and body can be answered from an earlier push. */
export function newEntry(source: EntrySource, replays: boolean): LogEntry {
  const { clientId, operation, idempotencyKey, rawBody, receivedAt } = source;
  const bodyHash = createHash('sha256').update(rawBody).digest('hex');
  const keyParts = [clientId, operation, idempotencyKey];
  return {
    _id: new Types.ObjectId(source.requestId),
    clientId,
    ...(source.systemCode !== null && { systemCode: source.systemCode }),
    operation,
    ...(idempotencyKey !== undefined && {
      idempotencyKey,
      keyId: digest(keyParts),
      ...(replays && { replayKey: digest([...keyParts, bodyHash]) }),
    }),
    bodyHash,
    bodySize: rawBody.length,
    ...(source.secretId !== undefined && { secretId: source.secretId }),
    receivedAt: new Date(receivedAt),
    deadlineAt: new Date(receivedAt + source.timeout),
    state: 'QUEUED',
  };
}

/** The entry of a request that was refused before it was queued. It can be found, never replayed. */
export function refusedEntry(entry: LogEntry, error: PushError, now: number): LogEntry {
  const { keyId: _, replayKey: __, ...rest } = entry;
  return { ...rest, state: 'REFUSED', reason: error.reason, settledAt: new Date(now) };
}

const digest = (parts: readonly unknown[]) =>
  createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 22);
