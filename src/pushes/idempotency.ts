/**
 * Idempotency (contract 5.1): a retry gets the outcome of its first attempt and is not applied again.
 *
 * - The *fingerprint* is a digest of client, operation, idempotency key and body. Two pushes with the same
 *   fingerprint are attempts of the same push.
 * - The *first attempt* of a fingerprint is the earliest persisted push within REPLAY_WINDOW. If a retry is
 *   no longer valid, for example because a user was disabled, `web` answers the retry from the log entry of the
 *   first attempt.
 * - The *prior result* is the result of the first attempt. A worker answers a valid retry with the prior result, after
 *   the worker has applied the earlier pushes of the same matter.
 * - A push *reuses* a key if the first queued push with the key had another body. The push that reuses the key counts
 *   as a new push, and its log entry is marked KEY_REUSED.
 */
import { createHash } from 'node:crypto';
import type { Reach } from '../concurrency/reach';
import type { Clock } from '../concurrency/timing';
import type { Outcome } from '../domain/decide';
import type { PriorResult } from '../domain/fold';
import { ASSIGNED_ID_PREFIX } from '../domain/operation';
import type { PushMessage } from '../queue/producer';
import {
  type KeyOwner,
  type KeyUses,
  keyOfAttempts,
  type LogEntry,
  type LogLookups,
  REPLAY_WINDOW,
} from '../storage/push-log';
import { databaseCall } from './availability';

/** @returns 22 characters; undefined if the push has no idempotency key */
export function idempotencyFingerprintOf(entry: LogEntry): string | undefined {
  const { clientId, operation, idempotencyKey, bodyHash } = entry;
  if (idempotencyKey === undefined) return undefined;
  const identity = [clientId, operation, idempotencyKey, bodyHash].join('\n');
  return createHash('sha256').update(identity).digest('base64url').slice(0, 22);
}

/**
 * Creates the externalId of a push without an externalId. Pushes with the same key and body get the same id. With the
 * same key but another body, the id differs: the push must not overwrite the matter of the first push. Without a key,
 * only pushes with the same signature get the same id.
 */
export function assignId(
  { clientId, idempotencyKey, signature }: AssignedIdSource,
  rawBody: Uint8Array,
): string {
  const digest = createHash('sha256');
  if (idempotencyKey === undefined) digest.update(`signature\n${clientId}\n${signature}`);
  else digest.update(`key\n${clientId}\n${idempotencyKey}\n`).update(rawBody);
  return ASSIGNED_ID_PREFIX + digest.digest('hex').slice(0, 32);
}

export interface AssignedIdSource {
  readonly clientId: string;
  readonly idempotencyKey?: string | undefined;
  readonly signature: string;
}

export interface IdempotencyDependencies {
  readonly lookups: LogLookups;
  readonly database: Reach;
  readonly clock: Clock;
  /** IDEMPOTENT_REPLAY. False: a retry is applied again. */
  readonly replays: boolean;
}

/** Idempotency in `web`. */
export interface Idempotency {
  /** @returns undefined if the push has no key or IDEMPOTENT_REPLAY is off */
  fingerprintOf(entry: LogEntry): string | undefined;
  /**
   * @param timeout milliseconds
   * @returns the entries of the first attempts, by fingerprint
   * @throws PushError DATABASE_UNAVAILABLE
   */
  firstAttempts(
    fingerprints: readonly string[],
    timeout: number,
  ): Promise<ReadonlyMap<string, LogEntry>>;
}

const NONE: ReadonlyMap<string, LogEntry> = new Map();

export function createIdempotency(deps: IdempotencyDependencies): Idempotency {
  const { lookups, database, clock, replays } = deps;
  return {
    fingerprintOf: (entry) => (replays ? idempotencyFingerprintOf(entry) : undefined),
    firstAttempts: async (fingerprints, timeout) => {
      if (fingerprints.length === 0) return NONE;
      const found = lookups.priorEntries(fingerprints, clock() - REPLAY_WINDOW);
      return databaseCall(database.guard(found), timeout);
    },
  };
}

/** Whether a logged push was accepted, or was answered as a retry of an accepted push. */
export const hadEffect = ({ state }: LogEntry) => state === 'PERSISTED' || state === 'REPLAYED';

/**
 * The fingerprint of the resends of a logged push. A failed push with a key keeps its fingerprint. For a failed push
 * without a key, all resends share a new fingerprint. If an attempt with the fingerprint took effect, a resend gets the
 * outcome of that attempt. For a push that took effect, a resend has no fingerprint, and is applied again.
 */
export function resendFingerprint(logged: LogEntry): string | undefined {
  if (hadEffect(logged)) return undefined;
  return idempotencyFingerprintOf({ ...logged, idempotencyKey: keyOfAttempts(logged) });
}

/**
 * Finds the prior results of pushes that a worker is about to apply, by fingerprint. The first read includes results
 * that the majority of the database members has not confirmed. The matters that the worker has loaded can contain the
 * effects of these results. Without these results, the worker would apply a push twice.
 *
 * @returns undefined if the majority has not confirmed all of the results. A MongoDB election could undo an unconfirmed
 *   result, and the commit of the worker would not detect this loss
 */
export async function findPriorResults(
  lookups: LogLookups,
  pushes: readonly PushMessage[],
  now: number,
): Promise<ReadonlyMap<string, PriorResult> | undefined> {
  const fingerprints = pushes.flatMap(({ idempotencyFingerprint }) => idempotencyFingerprint ?? []);
  const since = now - REPLAY_WINDOW;
  const newest = await lookups.priorEntries(fingerprints, since, 'local');
  const confirmed = await lookups.priorEntries([...newest.keys()], since);
  return confirmed.size < newest.size ? undefined : toPriorResults(confirmed);
}

/** @param entries of first attempts, by fingerprint */
export const toPriorResults = (entries: ReadonlyMap<string, LogEntry>): Map<string, PriorResult> =>
  new Map(
    [...entries].map(([fingerprint, { _id, result, matterId = 0n }]) => [
      fingerprint,
      { pushId: String(_id), outcome: result as Outcome, matterId: BigInt(matterId) },
    ]),
  );

/** The idempotency key of a push, with the client and operation within which the key identifies the push. */
export function keyOwnerOf(push: PushMessage): KeyOwner {
  const { systemCode, clientId, operation, idempotencyKey } = push;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  return { systemCode, clientId, operation: operation.op, ...key };
}

/** Whether the first queued push with the key of this push had another body. */
export function isKeyReused(push: PushMessage, uses: KeyUses): boolean {
  const first = uses.firstBody(keyOwnerOf(push));
  return first !== undefined && first !== push.bodyHash;
}
