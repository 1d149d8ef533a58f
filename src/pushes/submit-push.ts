/**
 * The way of an authenticated push: admit, validate, record, queue, wait for the worker's reply. It
 * always ends by the caller's deadline, with a result or an error.
 */
import { PushError } from '../protocol/errors';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { Metrics } from '../telemetry/metrics';
import { databaseCall } from './availability';
import type { BatchWindow } from './batch-window';
import {
  admit,
  endedPush,
  type LetInDependencies,
  left,
  type Submission,
  takePermit,
} from './let-in';
import type { Permit } from './load-shedder';
import { entryOf, rejectedEntry, replayedEntry, withMatter } from './log-entry';
import type { PushRequest } from './push-request';
import { type PushResult, resultOf, wasProcessed } from './push-result';
import {
  fingerprintOf,
  firstTries,
  messageOf,
  queuedEntry,
  type RecordDependencies,
  recordPushes,
  replayedResult,
} from './record-pushes';
import type { SettlePush } from './settle-push';
import type { ValidatePush, ValidPush } from './validate-push';

/** `timeout` is PUSH_TIMEOUT. */
export interface SubmitPushDependencies extends LetInDependencies, RecordDependencies {
  readonly validate: ValidatePush;
  readonly settle: SettlePush;
  readonly metrics: Pick<Metrics, 'stage'>;
  readonly batchWindow: Pick<BatchWindow, 'enter'>;
}

/** @throws PushError for everything but success */
export type SubmitPush = (request: PushRequest) => Promise<PushResult>;

export function createSubmitPush(deps: SubmitPushDependencies): SubmitPush {
  return (request) => {
    const deadline = request.receivedAt + deps.timeout;
    const push = { request, pushes: 1, deadline, isInLog: false };
    return counted(deps, push, submitPush(deps, push));
  };
}

interface SinglePush extends Submission {
  readonly request: PushRequest;
}

async function submitPush(deps: SubmitPushDependencies, push: SinglePush): Promise<PushResult> {
  // One that is shed counts too: batches that make room for it must not fill it again at once.
  const leave = deps.batchWindow.enter(push.request.caller.clientId);
  try {
    return await submitPermitted(deps, push, takePermit(deps, push));
  } finally {
    leave();
  }
}

async function submitPermitted(
  deps: SubmitPushDependencies,
  push: SinglePush,
  permit: Permit,
): Promise<PushResult> {
  const { request } = push;
  try {
    request.admitted(await admit(deps, push));
    // The body is hashed only once the push is admitted.
    const entry = entryOf(request, deps.timeout);
    const valid = await validate(deps, push).catch((error) => ({ error }));
    if ('error' in valid) return await replayOrReject(deps, push, entry, valid.error);
    request.stages?.mark('admit');
    const queued = queuedEntry(deps, entry, valid);
    await record(deps, push, queued);
    request.stages?.mark('log');
    const settlement = await deps.settle(messageOf(request, queued, valid), push.deadline);
    request.stages?.mark('wait');
    permit.release(wasProcessed(settlement) ? 1 : 0);
    const { externalId, warnings } = valid;
    return resultOf(settlement, { systemCode: request.caller.systemCode, externalId, warnings });
  } finally {
    permit.release(0);
  }
}

function validate(deps: SubmitPushDependencies, push: SinglePush): Promise<ValidPush> {
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
  push: SinglePush,
  entry: LogEntry,
  error: unknown,
): Promise<PushResult> {
  if (!(error instanceof PushError) || error.code >= 500) throw error;
  const { request } = push;
  const now = deps.clock();
  const fingerprint = fingerprintOf(deps, entry);
  const fingerprints = fingerprint === undefined ? [] : [fingerprint];
  const [first] = (await firstTries(deps, fingerprints, left(deps, push))).values();
  const ended = first
    ? replayedEntry(entry, first, now)
    : rejectedEntry(withMatter(entry, request.rawBody), error, now);
  await record(deps, push, ended);
  if (!first) throw error;
  return replayedResult(ended, request.caller.systemCode);
}

/** @throws PushError DATABASE_UNAVAILABLE */
async function record(
  deps: SubmitPushDependencies,
  push: SinglePush,
  entry: LogEntry,
): Promise<void> {
  const began = performance.now();
  const logged = { entry, body: push.request.rawBody };
  const failure = (await recordPushes(deps, [logged], left(deps, push))).get(entry);
  if (failure) throw failure;
  push.isInLog = true;
  deps.metrics.stage('log', began);
}

/** Counts a push as its caller is answered, also one that is shed and never recorded. */
async function counted(
  { counts, clock }: SubmitPushDependencies,
  push: SinglePush,
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
