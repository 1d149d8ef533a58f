/**
 * Idempotency (contract 5.1): a retry gets the outcome of its first attempt and is not applied again.
 *
 * - The *fingerprint* is a digest of client, operation, idempotency key and body.
 * - The *first attempt* is the earliest persisted push with the same fingerprint within REPLAY_WINDOW. The *prior
 *   result* is the result of the first attempt.
 * - If a worker dies after the commit of a push, another worker processes the push again. The push is then the first
 *   attempt of itself.
 * - A push *reuses* a key if the first queued push with the key had a different body.
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
 * Creates an externalId for a push without externalId. With an idempotency key, the id depends on the key and the
 * body. Otherwise, two pushes with one key and different bodies would change the same matter.
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
  /** IDEMPOTENT_REPLAY; false: workers apply a retry again. */
  readonly replays: boolean;
}

export interface Idempotency {
  /** @returns the fingerprint; undefined if the push has no idempotency key, or if IDEMPOTENT_REPLAY is off */
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

export const hadEffect = ({ state }: LogEntry) => state === 'PERSISTED' || state === 'REPLAYED';

/**
 * All resends of a failed push have the same fingerprint. Therefore, at most one resend takes effect within
 * REPLAY_WINDOW.
 *
 * @returns undefined for a push that took effect
 */
export function resendFingerprint(logged: LogEntry): string | undefined {
  if (hadEffect(logged)) return undefined;
  return idempotencyFingerprintOf({ ...logged, idempotencyKey: keyOfAttempts(logged) });
}

/**
 * Finds the prior results of pushes, by fingerprint. The `local` read includes results that the MongoDB majority has
 * not confirmed.
 *
 * @returns undefined if at least one result is not confirmed
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

export const toPriorResults = (entries: ReadonlyMap<string, LogEntry>): Map<string, PriorResult> =>
  new Map(
    [...entries].map(([fingerprint, { _id, result, matterId = 0n }]) => [
      fingerprint,
      { pushId: String(_id), outcome: result as Outcome, matterId: BigInt(matterId) },
    ]),
  );

export function keyOwnerOf(push: PushMessage): KeyOwner {
  const { systemCode, clientId, operation, idempotencyKey } = push;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  return { systemCode, clientId, operation: operation.op, ...key };
}

export function isKeyReused(push: PushMessage, uses: KeyUses): boolean {
  const first = uses.firstBody(keyOwnerOf(push));
  return first !== undefined && first !== push.bodyHash;
}
