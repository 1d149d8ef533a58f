/** The push-log entry of a request (decisions, "Idempotency key and push log"). */
import { createHash, hash } from 'node:crypto';
import { Types } from 'mongoose';
import type { AuthHeaders } from '../auth/auth-headers';
import type { Caller } from '../auth/authenticate';
import { MAX_PROBLEMS, type PushError } from '../protocol/errors';
import type { JsonObject } from '../protocol/json-body';
import { BY_ANYBODY, WRONG_SIGNATURE } from '../storage/push-log/by-anybody';
import type { BodyDigest, LogEntry, RequestFields } from '../storage/push-log/entry-model';
import { sentSignature } from '../storage/push-log/sent-signature';
import { resultOf } from '../storage/push-log/settlement';
import { externalIdIn, externalIdOf, type ValidPush } from './validate-push';

export interface EntrySource {
  readonly requestId: string;
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly secretId?: string;
  readonly operation: string;
  readonly idempotencyKey?: string | undefined;
  readonly rawBody: Uint8Array;
  /** Of a large body, and of one that was not kept. */
  readonly digest?: BodyDigest | undefined;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** How long the caller waits, milliseconds. */
  readonly timeout: number;
  /** What it has of the HTTP request itself. */
  readonly logged?: RequestFields | undefined;
}

/** A push on its way through this process: single, or a line of a batch. */
export interface SentPush {
  readonly requestId: string;
  readonly caller: Caller;
  readonly operation: string;
  readonly idempotencyKey: string | undefined;
  readonly rawBody: Uint8Array;
  /** Of a large body: it is hashed once. */
  readonly digest?: BodyDigest | undefined;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  readonly logged?: RequestFields | undefined;
}

/** Its entry. @param timeout how long its caller waits, milliseconds */
export function entryOf(push: SentPush, timeout: number): LogEntry {
  const { requestId, operation, idempotencyKey, rawBody, digest, receivedAt, logged } = push;
  const { clientId, systemCode, secretId } = push.caller;
  return newEntry({
    requestId,
    clientId,
    systemCode,
    secretId,
    operation,
    idempotencyKey,
    rawBody,
    digest,
    receivedAt,
    timeout,
    logged,
  });
}

/** A queued entry. */
export function newEntry(source: EntrySource): LogEntry {
  const { clientId, systemCode, secretId, operation, idempotencyKey, receivedAt } = source;
  const { rawBody, digest } = source;
  const entry: LogEntry = {
    _id: new Types.ObjectId(source.requestId),
    clientId,
    operation,
    bodyHash: digest?.bodyHash ?? hash('sha256', rawBody),
    bodySize: digest?.bodySize ?? rawBody.length,
    receivedAt: new Date(receivedAt),
    deadlineAt: new Date(receivedAt + source.timeout),
    state: 'QUEUED',
    ...source.logged,
  };
  if (systemCode !== null) entry.systemCode = systemCode;
  if (idempotencyKey !== undefined) entry.idempotencyKey = idempotencyKey;
  if (secretId !== undefined) entry.secretId = secretId;
  return entry;
}

/** The same, of a push that is valid. */
export const withValid = (entry: LogEntry, { externalId, warnings }: ValidPush): LogEntry =>
  // Names first: those behind a spread V8 adds one by one, which takes many times as long.
  warnings.length > 0 ? { externalId, warnings, ...entry } : { externalId, ...entry };

/** The same, of a push that was not looked into, with the matter that it names. */
export const withMatter = (entry: LogEntry, rawBody: Uint8Array): LogEntry =>
  named(entry, externalIdIn(rawBody));

/** The same where its body was read; undefined: it cannot be. */
export const withMatterOf = (entry: LogEntry, body: JsonObject | undefined): LogEntry =>
  named(entry, body && externalIdOf(body));

const named = (entry: LogEntry, externalId: string | undefined): LogEntry =>
  externalId === undefined ? entry : { externalId, ...entry };

/** Digest of what a retry shares with its first try: client, operation, idempotency key and body. */
export function idempotencyFingerprintOf(entry: LogEntry): string | undefined {
  const { clientId, operation, idempotencyKey, bodyHash } = entry;
  if (idempotencyKey === undefined) return undefined;
  const identity = [clientId, operation, idempotencyKey, bodyHash].join('\n');
  return createHash('sha256').update(identity).digest('base64url').slice(0, 22);
}

/** The entry of a retry that was answered from its first try without being queued. */
export function replayedEntry(entry: LogEntry, first: LogEntry, now: number): LogEntry {
  const { externalId, result, matterId, warnings } = first;
  return {
    ...entry,
    ...(externalId !== undefined && { externalId }),
    ...(result !== undefined && { result }),
    ...(matterId !== undefined && { matterId }),
    ...(warnings && { warnings }),
    state: 'REPLAYED',
    duplicateOf: first._id,
    settledAt: new Date(now),
  };
}

/** The entry of a request that was rejected before it was queued. */
export function rejectedEntry(entry: LogEntry, error: PushError, now: number): LogEntry {
  const { reason, errors, warnings } = error;
  return {
    ...entry,
    ...resultOf({ state: 'REFUSED', reason }),
    ...(errors && { problems: errors.slice(0, MAX_PROBLEMS) }),
    ...(warnings.length > 0 && { warnings }),
    settledAt: new Date(now),
  };
}

/** The same of a request whose sender is not known for sure: what its signature was, to look into later. */
export function unsignedEntry(
  entry: LogEntry,
  error: PushError,
  { timestamp, signature }: AuthHeaders,
  now: number,
): LogEntry {
  const rejected = rejectedEntry(entry, error, now);
  if (!BY_ANYBODY.includes(error.reason)) return rejected;
  const isWrong = WRONG_SIGNATURE.includes(error.reason);
  return {
    ...rejected,
    ...(isWrong && { signature: sentSignature(timestamp, signature) }),
    expireAt: new Date(entry.receivedAt.getTime() + KEPT_FOR),
  };
}

/** Milliseconds: a day, in which its sender may ask what was wrong. */
const KEPT_FOR = 86_400_000;
