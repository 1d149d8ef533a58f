/**
 * What comes before any work on a push or a batch: its client is not paused, there is room for it, its
 * signature is for this use, its client within its rate.
 */
import { checkMayPush } from '../auth/authenticate';
import type { Clock } from '../concurrency/clock';
import { PushError, type RateState } from '../protocol/errors';
import { clientPaused } from '../protocol/limit-errors';
import { BATCH } from '../protocol/paths';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { EndedPush, PushCounts } from '../storage/push-log/push-counts';
import type { Admit } from './admit';
import type { LoadShedder, Permit } from './load-shedder';
import { entryOf, rejectedEntry, type SentPush, withMatter } from './log-entry';
import type { LogRejection } from './rejection-log';

export interface LetInDependencies {
  readonly loadShedder: LoadShedder;
  readonly admit: Admit;
  readonly logRejection: LogRejection;
  /** The same for what is shed. */
  readonly logShed: LogRejection;
  readonly counts: Pick<PushCounts, 'ended' | 'unrecorded'>;
  readonly clock: Clock;
  /** How long a caller waits, milliseconds. */
  readonly timeout: number;
}

/** A request with pushes, on its way through this process. */
export interface Submission {
  readonly request: SentPush & Parameters<Admit>[0];
  /** How many it has. */
  readonly pushes: number;
  /** How long its caller waits, epoch milliseconds. */
  readonly deadline: number;
  /** It has an entry in the log, or was handed to the rejection log, which counts what it drops. */
  isInLog: boolean;
}

/** Of a key that may not push: whoever has it takes none of the room of its client. */
const NO_PERMIT: Permit = { end: () => {}, release: () => {} };

/** @throws PushError CLIENT_PAUSED or BACKLOG_FULL */
export function takePermit(deps: LetInDependencies, submission: Submission): Permit {
  const { caller, operation } = submission.request;
  const { clientId, paused, queryKey } = caller;
  if (queryKey && !queryKey.mayPush) return NO_PERMIT;
  try {
    if (paused) throw clientPaused(paused.reason);
    const lines = operation === BATCH ? submission.pushes : undefined;
    return deps.loadShedder.acquire(clientId, lines);
  } catch (error) {
    logRejection(deps, submission, error);
    throw error;
  }
}

/**
 * A key that may not push is held to its rate all the same: a batch of it, of which nothing is looked at, counts once.
 *
 * @throws PushError SIGNATURE_REUSED, RATE_LIMITED, QUEUE_UNAVAILABLE or SCOPE_NOT_ALLOWED
 */
export async function admit(
  deps: LetInDependencies,
  submission: Submission,
): Promise<RateState | undefined> {
  const { request } = submission;
  const { caller } = request;
  const isBarred = caller.queryKey?.mayPush === false;
  try {
    const counted = isBarred ? { ...request, pushes: 1 } : request;
    const rate = await deps.admit(counted, left(deps, submission));
    checkMayPush(caller);
    return rate;
  } catch (error) {
    logRejection(deps, submission, error);
    throw error;
  }
}

/** Requests that are rejected before they are admitted may come in crowds: only some are recorded. */
export function logRejection(
  deps: LetInDependencies,
  submission: Submission,
  error: unknown,
): void {
  if (!(error instanceof PushError)) return;
  const { request } = submission;
  const { clientId } = request.caller;
  const entry = entryMaker(deps, request, error);
  const dropped = countDropped(deps, endedPush(request, error.reason), submission.pushes);
  submission.isInLog = true;
  if (error.reason === 'BACKLOG_FULL') deps.logShed(clientId, entry, undefined, dropped);
  else deps.logRejection(clientId, entry, request.digest ? undefined : request.rawBody, dropped);
}

/**
 * The entry of a batch is made at once, and names no matter: it waits to be written when its request counts
 * no longer among those in flight, and must not keep, or parse, megabytes then.
 */
function entryMaker(
  { clock, timeout }: LetInDependencies,
  request: SentPush,
  error: PushError,
): () => LogEntry {
  const now = clock();
  if (request.operation === BATCH) {
    return always(rejectedEntry(entryOf(request, timeout), error, now));
  }
  return rejectionOf(request, error, timeout, now);
}

const rejectionOf = (request: SentPush, error: PushError, timeout: number, now: number) => () =>
  rejectedEntry(withMatter(entryOf(request, timeout), request.rawBody), error, now);
const always = (entry: LogEntry) => () => entry;
const countDropped =
  ({ counts }: LetInDependencies, ended: EndedPush, pushes: number) =>
  () =>
    counts.unrecorded(ended, pushes);

/** Milliseconds until its caller waits no longer. */
export const left = (
  { clock }: Pick<LetInDependencies, 'clock'>,
  { deadline }: Pick<Submission, 'deadline'>,
) => deadline - clock();

/** As it is counted. @param result an outcome, REPLAYED, or a reason */
export function endedPush({ operation, receivedAt, caller }: SentPush, result: string): EndedPush {
  const { clientId, systemCode } = caller;
  return { clientId, systemCode, operation, result, receivedAt };
}
