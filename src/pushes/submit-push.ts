/**
 * The way of an authenticated push: admit, validate, record, queue, wait for the worker's reply. It
 * always ends by the caller's deadline, with a result or an error.
 */
import { checkMayPush } from '../auth/authenticate';
import type { Clock } from '../concurrency/clock';
import { clientPaused, PushError, type RateState } from '../protocol/errors';
import type { QueuedPush } from '../queue/push';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { PushLog } from '../storage/push-log/log';
import { type LogLookups, REPLAY_WINDOW } from '../storage/push-log/lookups';
import type { EndedPush, PushCounts } from '../storage/push-log/push-counts';
import { settlementOf } from '../storage/push-log/settlement';
import type { Metrics } from '../telemetry/metrics';
import type { Admit } from './admit';
import { databaseCall } from './availability';
import type { PushFinalizer } from './finalize-push';
import type { LoadShedder, Permit } from './load-shedder';
import {
  idempotencyFingerprintOf,
  newEntry,
  rejectedEntry,
  replayedEntry,
  withMatter,
  withValid,
} from './log-entry';
import type { PushRequest } from './push-request';
import { type PushResult, resultOf, wasProcessed } from './push-result';
import type { LogRejection } from './rejection-log';
import type { SettlePush } from './settle-push';
import type { ValidatePush, ValidPush } from './validate-push';

export interface SubmitPushDependencies {
  readonly loadShedder: LoadShedder;
  readonly admit: Admit;
  readonly validate: ValidatePush;
  readonly pushLog: Pick<PushLog, 'append'>;
  readonly lookups: Pick<LogLookups, 'priorEntries'>;
  readonly logRejection: LogRejection;
  /** The same for what is shed. */
  readonly logShed: LogRejection;
  readonly settle: SettlePush;
  readonly finalizer: Pick<PushFinalizer, 'finalize'>;
  readonly counts: Pick<PushCounts, 'ended' | 'unrecorded'>;
  readonly clock: Clock;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  /** IDEMPOTENT_REPLAY: a retry is answered from its first try. */
  readonly replays: boolean;
  readonly metrics: Pick<Metrics, 'stage'>;
}

/** @throws PushError for everything but success */
export type SubmitPush = (request: PushRequest) => Promise<PushResult>;

export function createSubmitPush(deps: SubmitPushDependencies): SubmitPush {
  return (request) => {
    const push = { request, deadline: request.receivedAt + deps.timeout, isInLog: false };
    return counted(deps, push, submitPush(deps, push));
  };
}

/** A push on its way through this process. */
interface Submission {
  readonly request: PushRequest;
  /** How long its caller waits, epoch milliseconds. */
  readonly deadline: number;
  /** It has an entry in the log, or was handed to the rejection log, which counts what it drops. */
  isInLog: boolean;
}

async function submitPush(deps: SubmitPushDependencies, push: Submission): Promise<PushResult> {
  const { request } = push;
  const permit = takePermit(deps, push);
  try {
    request.admitted(await admit(deps, push));
    // The body is hashed only once the push is admitted.
    const entry = makeEntry(deps, request);
    const valid = await validate(deps, push).catch((error) => ({ error }));
    if ('error' in valid) return await replayOrReject(deps, push, entry, valid.error);
    request.stages?.mark('admit');
    const queued = queuedEntry(deps, entry, valid);
    await record(deps, push, queued);
    request.stages?.mark('log');
    const settlement = await deps.settle(messageOf(request, queued, valid), push.deadline);
    request.stages?.mark('wait');
    permit.release(wasProcessed(settlement));
    const { externalId, warnings } = valid;
    return resultOf(settlement, { systemCode: request.caller.systemCode, externalId, warnings });
  } finally {
    permit.release(false);
  }
}

/** @throws PushError SCOPE_NOT_ALLOWED, CLIENT_PAUSED or BACKLOG_FULL */
function takePermit(deps: SubmitPushDependencies, push: Submission): Permit {
  const { clientId, paused } = push.request.caller;
  try {
    checkMayPush(push.request.caller);
    if (paused) throw clientPaused(paused.reason);
    return deps.loadShedder.acquire(clientId);
  } catch (error) {
    logRejection(deps, push, error);
    throw error;
  }
}

async function admit(
  deps: SubmitPushDependencies,
  push: Submission,
): Promise<RateState | undefined> {
  try {
    return await deps.admit(push.request, left(deps, push));
  } catch (error) {
    logRejection(deps, push, error);
    throw error;
  }
}

/** Requests that are rejected before they are admitted may come in crowds: only some are recorded. */
function logRejection(deps: SubmitPushDependencies, push: Submission, error: unknown): void {
  if (!(error instanceof PushError)) return;
  const { request } = push;
  const { clientId } = request.caller;
  const now = deps.clock();
  const entry = () =>
    rejectedEntry(withMatter(makeEntry(deps, request), request.rawBody), error, now);
  const dropped = () => deps.counts.unrecorded(endedPush(request, error.reason));
  push.isInLog = true;
  if (error.reason === 'BACKLOG_FULL') deps.logShed(clientId, entry, undefined, dropped);
  else deps.logRejection(clientId, entry, request.rawBody, dropped);
}

function validate(deps: SubmitPushDependencies, push: Submission): Promise<ValidPush> {
  const { request } = push;
  const { operation, signature, idempotencyKey, headerErrors, strictFields } = request;
  const { clientId } = request.caller;
  const context = { clientId, operation, signature, idempotencyKey, headerErrors, strictFields };
  return databaseCall(deps.validate(request.rawBody, context), left(deps, push));
}

/**
 * Rejects a body that does not pass. A retry still gets the outcome of its first try: what the body
 * names may have passed then (a user who has left since).
 */
async function replayOrReject(
  deps: SubmitPushDependencies,
  push: Submission,
  entry: LogEntry,
  error: unknown,
): Promise<PushResult> {
  if (!(error instanceof PushError) || error.code >= 500) throw error;
  const { request } = push;
  const now = deps.clock();
  const fingerprint = fingerprintOf(deps, entry);
  const fingerprints = fingerprint === undefined ? [] : [fingerprint];
  const found = deps.lookups.priorEntries(fingerprints, now - REPLAY_WINDOW);
  const [first] = (await databaseCall(found, left(deps, push))).values();
  const ended = first
    ? replayedEntry(entry, first, now)
    : rejectedEntry(withMatter(entry, request.rawBody), error, now);
  await databaseCall(deps.pushLog.append(ended, request.rawBody), left(deps, push));
  push.isInLog = true;
  const settlement = settlementOf(ended);
  if (!first || !settlement) throw error;
  const { systemCode } = request.caller;
  const { externalId = '', warnings = [] } = first;
  return resultOf(settlement, { systemCode, externalId, warnings });
}

/** Records a push that is to be queued. If the write fails, its entry is finalized in case it exists. */
async function record(
  deps: SubmitPushDependencies,
  push: Submission,
  entry: LogEntry,
): Promise<void> {
  const { requestId, rawBody } = push.request;
  const began = performance.now();
  const written = deps.pushLog.append(entry, rawBody);
  try {
    await databaseCall(written, left(deps, push));
    push.isInLog = true;
    deps.metrics.stage('log', began);
  } catch (error) {
    const settlement = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' } as const;
    const giveUp = () => deps.finalizer.finalize({ id: requestId, settlement }, deps.clock());
    // Only after the write is over: an entry that does not exist yet cannot be finalized.
    void written.then(giveUp, giveUp);
    throw error;
  }
}

/** The fingerprint is there from the start: a settlement that sets it would touch its index. */
function queuedEntry(deps: SubmitPushDependencies, entry: LogEntry, valid: ValidPush): LogEntry {
  const queued = withValid(entry, valid);
  const idempotencyFingerprint = fingerprintOf(deps, entry);
  return idempotencyFingerprint === undefined ? queued : { idempotencyFingerprint, ...queued };
}

/** What travels through the queue. */
function messageOf(
  { requestId, caller }: PushRequest,
  entry: LogEntry,
  { operation, externalId }: ValidPush,
): Omit<QueuedPush, 'replyTo'> {
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

function makeEntry({ timeout }: SubmitPushDependencies, request: PushRequest): LogEntry {
  const { requestId, operation, idempotencyKey, rawBody, receivedAt, logged } = request;
  const { clientId, systemCode, secretId } = request.caller;
  const sender = { clientId, systemCode, secretId, timeout };
  return newEntry({ requestId, operation, idempotencyKey, rawBody, receivedAt, logged, ...sender });
}

const fingerprintOf = ({ replays }: SubmitPushDependencies, entry: LogEntry) =>
  replays ? idempotencyFingerprintOf(entry) : undefined;

/** Milliseconds until its caller waits no longer. */
const left = ({ clock }: SubmitPushDependencies, { deadline }: Submission) => deadline - clock();

/** Counts a push as its caller is answered, also one that is shed and never recorded. */
async function counted(
  { counts, clock }: SubmitPushDependencies,
  push: Submission,
  result: Promise<PushResult>,
): Promise<PushResult> {
  const end = (came: string) => {
    const ended = endedPush(push.request, came);
    counts.ended(ended, clock() - push.request.receivedAt);
    if (!push.isInLog) counts.unrecorded(ended);
  };
  try {
    const { data, replayed } = await result;
    end(replayed ? 'REPLAYED' : data.outcome);
  } catch (error) {
    end(error instanceof PushError ? error.reason : 'INTERNAL_ERROR');
  }
  return result;
}

function endedPush({ operation, receivedAt, caller }: PushRequest, result: string): EndedPush {
  const { clientId, systemCode } = caller;
  return { clientId, systemCode, operation, result, receivedAt };
}
