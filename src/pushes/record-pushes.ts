/** Pushes on their way into the log and the queue: single ones, and those of a batch together. */
import type { Clock } from '../concurrency/clock';
import type { Reach } from '../concurrency/reach';
import { PushError, type Reason } from '../protocol/errors';
import { isCausedByDocument } from '../storage/driver-errors';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { PushLog, UnloggedPush } from '../storage/push-log/log';
import { type LogLookups, REPLAY_WINDOW } from '../storage/push-log/lookups';
import { settlementOf } from '../storage/push-log/settlement';
import { databaseCall } from './availability';
import type { PushFinalizer } from './finalize-push';
import { idempotencyFingerprintOf, type SentPush, withValid } from './log-entry';
import { type PushResult, resultOf } from './push-result';
import type { UnsentPush } from './settle-push';
import type { ValidPush } from './validate-push';

export interface RecordDependencies {
  readonly pushLog: Pick<PushLog, 'appendAll'>;
  readonly lookups: Pick<LogLookups, 'priorEntries'>;
  readonly finalizer: Pick<PushFinalizer, 'finalize'>;
  readonly clock: Clock;
  readonly database: Pick<Reach, 'guard'>;
  /** IDEMPOTENT_REPLAY: a retry is answered from its first try. */
  readonly replays: boolean;
}

/**
 * Records pushes. Where the write of one fails, its entry is finalized in case it exists.
 *
 * @param timeout milliseconds
 * @returns by entry the error of those that are not recorded: OPERATION_FAILED if the document is the cause,
 *   otherwise DATABASE_UNAVAILABLE
 */
export async function recordPushes(
  deps: RecordDependencies,
  pushes: readonly UnloggedPush[],
  timeout: number,
): Promise<ReadonlyMap<LogEntry, PushError>> {
  const written = deps.pushLog.appendAll(pushes);
  try {
    const failures = await databaseCall(deps.database.guard(written), timeout);
    return new Map(
      [...failures].map(([entry, cause]) => {
        const reason = isCausedByDocument(cause) ? 'OPERATION_FAILED' : 'DATABASE_UNAVAILABLE';
        giveUp(deps, entry, reason);
        return [entry, new PushError(reason, { cause })];
      }),
    );
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    const giveUpAll = () => {
      for (const { entry } of pushes) giveUp(deps, entry);
    };
    // Only after the write is over: an entry that does not exist yet cannot be finalized.
    void written.then(giveUpAll, giveUpAll);
    return new Map(pushes.map(({ entry }) => [entry, error]));
  }
}

function giveUp(
  { finalizer, clock }: RecordDependencies,
  { _id, state }: LogEntry,
  reason: Reason = 'DATABASE_UNAVAILABLE',
): void {
  const settlement = { state: 'REFUSED', reason } as const;
  if (state === 'QUEUED') void finalizer.finalize({ id: String(_id), settlement }, clock());
}

/** The fingerprint is there from the start: a settlement that sets it would touch its index. */
export function queuedEntry(
  deps: Pick<RecordDependencies, 'replays'>,
  entry: LogEntry,
  valid: ValidPush,
): LogEntry {
  const queued = withValid(entry, valid);
  const idempotencyFingerprint = fingerprintOf(deps, entry);
  return idempotencyFingerprint === undefined ? queued : { idempotencyFingerprint, ...queued };
}

export const fingerprintOf = ({ replays }: Pick<RecordDependencies, 'replays'>, entry: LogEntry) =>
  replays ? idempotencyFingerprintOf(entry) : undefined;

/** The first tries, by fingerprint, that retries are answered from. @param timeout milliseconds */
export function firstTries(
  { lookups, clock, database }: RecordDependencies,
  fingerprints: readonly string[],
  timeout: number,
): Promise<Map<string, LogEntry>> {
  const found = lookups.priorEntries(fingerprints, clock() - REPLAY_WINDOW);
  return databaseCall(database.guard(found), timeout);
}

/**
 * What the caller of a retry is told.
 *
 * @param ended its entry, which has the outcome of its first try
 */
export function replayedResult(ended: LogEntry, systemCode: string): PushResult {
  const { externalId = '', warnings = [] } = ended;
  return resultOf(settlementOf(ended), { systemCode, externalId, warnings });
}

/** What travels through the queue. */
export function messageOf(
  { requestId, caller }: Pick<SentPush, 'requestId' | 'caller'>,
  entry: LogEntry,
  { operation, externalId }: ValidPush,
): UnsentPush {
  const { bodyHash, idempotencyKey, idempotencyFingerprint } = entry;
  const message = {
    id: requestId,
    clientId: caller.clientId,
    systemCode: caller.systemCode,
    externalId,
    operation,
    bodyHash,
  };
  if (idempotencyKey === undefined) return message;
  return {
    ...message,
    idempotencyKey,
    ...(idempotencyFingerprint && { idempotencyFingerprint }),
  };
}
