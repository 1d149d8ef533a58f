/** Decides which logged pushes are sent again. */
import { OPERATIONS, type OperationName } from '../domain/operation';
import { isReason, PushError, problem } from '../protocol/errors';
import { TEXTS } from '../protocol/texts';
import {
  type Bodies,
  type BodyDigest,
  type FindMended,
  type KeyUses,
  type LogEntry,
  type LogLookups,
  latestAttempts,
  type MendingEntry,
  positionOf,
} from '../storage/push-log';
import { hadEffect } from './idempotency';
import { readExternalId } from './validate';

export interface StoredPush {
  readonly entry: LogEntry & { readonly systemCode: string; readonly operation: OperationName };
  /** The body that the resend sends (see `PlanRules.attempts`). */
  readonly body: Uint8Array;
  /** Undefined if the resend changed the body (`ValuesToSet`). */
  readonly digest: BodyDigest | undefined;
  /** The body of `entry`, if `planResend` found the body. A resend derives a missing externalId from this body. */
  readonly firstBody: Uint8Array | undefined;
}

export const SKIPPED = {
  NOT_AUTHENTICATED: 'rejected because of its signature or client',
  NOT_A_PUSH: 'not a push',
  STILL_QUEUED: 'still queued, or another push of the same matter is still queued',
  A_RESEND: 'a resend (--request-id sends it anyway)',
  ONLY_ANSWERED: 'a retry: the answer repeated the outcome of the first attempt',
  TOOK_EFFECT: 'took effect',
  ALREADY_RESENT: 'was already sent again (--again sends it once more)',
  CALLER_RETRIED: 'the caller sent the push again, and the retry was persisted',
  RESOLVED_SINCE:
    'a later push with the same matter or idempotency key took effect (--again sends the old push anyway)',
  LATER_ATTEMPT:
    'the caller sent the push again with the same key; the resend uses the last attempt',
  BODY_GONE: 'its body is not stored',
  HELD_BACK: 'not sent, because an earlier push of the same matter failed; run the command again',
} as const;
export type Skipped = keyof typeof SKIPPED;

export type Planned = { readonly kind: 'push'; readonly push: StoredPush } | SkippedPush;

export interface SkippedPush {
  readonly kind: 'skipped';
  readonly entry: LogEntry;
  readonly why: Skipped;
  /** The request id of the push that took effect or is still queued. */
  readonly by?: string | undefined;
}

export interface PlanDependencies {
  readonly bodies: Bodies;
  readonly lookups: Pick<LogLookups, 'resent' | 'keyUses'>;
  readonly findMended: FindMended;
}

export interface PlanRules {
  /** Reasons that do not prevent a resend. */
  readonly allowed: readonly Skipped[];
  /** Maximum bytes of all bodies together. */
  readonly maxBytes?: number;
  /** Maps an entry to the attempt whose body is sent; without a mapping, the body of the entry is sent. */
  readonly attempts?: ReadonlyMap<LogEntry, LogEntry>;
}

/**
 * @param entries sorted from old to new
 * @throws PushError BODY_TOO_LARGE, or an error of the MongoDB driver
 */
export async function planResend(
  { bodies, lookups, findMended }: PlanDependencies,
  entries: readonly LogEntry[],
  { allowed, maxBytes = Number.POSITIVE_INFINITY, attempts }: PlanRules,
): Promise<Planned[]> {
  const [sent, uses, later] = await Promise.all([
    lookups.resent(entries.map(positionOf)),
    // Finds retries that took effect.
    lookups.keyUses(entries),
    findLater(findMended, entries),
  ]);
  const skipped = skippedOf(entries, { sent, uses, later }, allowed);
  const attemptOf = (entry: LogEntry) => attempts?.get(entry) ?? entry;
  const needed = new Set<LogEntry>();
  for (const [index, entry] of entries.entries()) {
    if (skipped[index]) continue;
    needed.add(attemptOf(entry));
    if (entry.externalId === undefined) needed.add(entry);
  }
  checkSize([...needed], maxBytes);
  const kept = await bodies.find([...needed].map(({ _id }) => String(_id)));
  return entries.map((entry, index): Planned => {
    const attempt = attemptOf(entry);
    const body = skipped[index] ? undefined : kept.get(String(attempt._id));
    if (!body || !isPush(entry)) {
      return { kind: 'skipped', entry, ...(skipped[index] ?? { why: 'BODY_GONE' }) };
    }
    const externalId = entry.externalId ?? attempt.externalId ?? readExternalId(body);
    const named = externalId === undefined ? entry : { ...entry, externalId };
    const { bodyHash, bodySize } = attempt;
    const firstBody = kept.get(String(entry._id));
    return {
      kind: 'push',
      push: { entry: named, body, digest: { bodyHash, bodySize }, firstBody },
    };
  });
}

interface Attempts {
  /** Maps the request id of an original push to the request id of a resend that took effect. */
  readonly sent: ReadonlyMap<string, string>;
  readonly uses: KeyUses;
  /**
   * Maps the request id of a failed push to a later push of the same matter or key. The later push took effect or is
   * queued.
   */
  readonly later: ReadonlyMap<string, MendingEntry>;
}

type SkipReason = { readonly why: Skipped; readonly by?: string | undefined };

function skippedOf(
  entries: readonly LogEntry[],
  attempts: Attempts,
  allowed: readonly Skipped[],
): (SkipReason | undefined)[] {
  /** Matters with a queued push. Later pushes of these matters are skipped. */
  const waiting = new Set<string>();
  const skipped = entries.map((entry): SkipReason | undefined => {
    const { systemCode, externalId } = entry;
    const matter = externalId === undefined ? undefined : `${systemCode}/${externalId}`;
    const reason = skipReasonsOf(entry, attempts).find(({ why }) => !allowed.includes(why));
    if (reason?.why === 'STILL_QUEUED' && matter !== undefined) waiting.add(matter);
    return reason ?? (waiting.has(matter ?? '') ? { why: 'STILL_QUEUED' } : undefined);
  });
  const latestOf = latestAttempts(entries.filter((_, index) => !skipped[index]));
  return entries.map(
    (entry, index) =>
      skipped[index] ?? (latestOf(entry) === entry ? undefined : { why: 'LATER_ATTEMPT' }),
  );
}

function skipReasonsOf(entry: LogEntry, { sent, uses, later }: Attempts): SkipReason[] {
  const id = String(entry._id);
  const retry = hadEffect(entry) ? undefined : uses.effectOf(entry);
  const next = later.get(id);
  const by = next && String(next._id);
  const position = positionOf(entry);
  // `later` can contain a new resend that `sent` does not contain yet.
  const isResent = next?.resentFrom !== undefined && positionOf(next) === position;
  const resent = sent.get(position) ?? (isResent ? by : undefined);
  const reasons: (SkipReason | false | undefined)[] = [
    // Only a push with a valid signature of the client may be resent.
    !isSigned(entry) && { why: 'NOT_AUTHENTICATED' },
    !isPush(entry) && { why: 'NOT_A_PUSH' },
    entry.state === 'QUEUED' && { why: 'STILL_QUEUED' },
    entry.resentFrom && { why: 'A_RESEND' },
    entry.state === 'REPLAYED' && { why: 'ONLY_ANSWERED' },
    hadEffect(entry) && { why: 'TOOK_EFFECT', by: id },
    resent !== undefined && { why: 'ALREADY_RESENT', by: resent },
    retry !== undefined && { why: 'CALLER_RETRIED', by: retry },
    next && !isResent && { why: next.state === 'QUEUED' ? 'STILL_QUEUED' : 'RESOLVED_SINCE', by },
  ];
  return reasons.filter((reason) => !!reason);
}

async function findLater(
  findMended: FindMended,
  entries: readonly LogEntry[],
): Promise<ReadonlyMap<string, MendingEntry>> {
  const failed = entries.filter((entry) => !hadEffect(entry));
  const systems = new Set(failed.flatMap(({ systemCode }) => systemCode ?? []));
  const found = [...systems].map((system) =>
    findMended(
      system,
      failed.filter(({ systemCode }) => systemCode === system),
    ),
  );
  return new Map((await Promise.all(found)).flatMap((later) => [...later]));
}

function checkSize(entries: readonly LogEntry[], maxBytes: number): void {
  const bytes = entries.reduce((sum, { bodySize }) => sum + bodySize, 0);
  if (bytes > maxBytes) throw bodiesTooLarge(maxBytes);
}

export const bodiesTooLarge = (maxBytes: number) =>
  new PushError('BODY_TOO_LARGE', {
    errors: [problem('requestIds', TEXTS.storedBodies(maxBytes))],
  });

function isSigned({ secretId, resentFrom, state, result }: LogEntry): boolean {
  if (secretId === undefined && resentFrom === undefined) return false;
  if (state !== 'REFUSED') return true;
  // An unknown reason could mean a wrong signature.
  return isReason(result) && ![401, 403].includes(new PushError(result).code);
}

function isPush(entry: LogEntry): entry is StoredPush['entry'] {
  const isOperation = (OPERATIONS as readonly string[]).includes(entry.operation);
  return isOperation && entry.systemCode !== undefined;
}
