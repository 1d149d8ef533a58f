/**
 * The synchronous way of an authenticated push: admit, validate, record, queue, wait for the
 * worker's reply. It always ends by the caller's deadline, with a settlement or an error.
 */

import type { SignedRequest } from '../auth/signed-request';
import type { Clock } from '../concurrency/clock';
import type { OperationName } from '../domain/operation';
import type { PushData } from '../protocol/envelope';
import {
  clientPaused,
  matterNotFound,
  type Problem,
  PushError,
  problem,
  type RateState,
} from '../protocol/errors';
import { type WarningInBoth, withUnseen } from '../protocol/warnings';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { PushLog } from '../storage/push-log/log';
import { type LogLookups, REPLAY_WINDOW } from '../storage/push-log/lookups';
import type { PushCounts } from '../storage/push-log/push-counts';
import { type Settlement, settlementOf } from '../storage/push-log/settlement';
import type { Metrics } from '../telemetry/metrics';
import type { StageTimes } from '../telemetry/stage-times';
import type { Admit } from './admit';
import { databaseCall } from './availability';
import { counted, endedPush } from './count-pushes';
import type { PushFinalizer } from './finalize-push';
import type { LoadShedder, Permit } from './load-shedder';
import { idempotencyFingerprintOf, newEntry, rejectedEntry, replayedEntry } from './log-entry';
import type { LogRejection } from './rejection-log';
import type { SettlePush } from './settle-push';
import { externalIdIn, type ValidatePush, type ValidPush } from './validate-push';

/** An authenticated request, not yet looked into. */
export interface PushRequest extends SignedRequest {
  readonly operation: OperationName;
  readonly rawBody: Uint8Array;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly headerErrors: readonly Problem[];
  /** X-Strict-Fields. */
  readonly strictFields: boolean;
  /** Told where the client stands with its rate. */
  readonly admitted: (rate: RateState | undefined) => void;
  /** Where LOG_REQUESTS is on. */
  readonly stages?: StageTimes | undefined;
}

export interface AcceptedPush {
  readonly data: PushData;
  /** The outcome of an earlier push was repeated. */
  readonly replayed: boolean;
}

export interface AcceptDependencies {
  readonly loadShedder: LoadShedder;
  readonly admit: Admit;
  readonly validate: ValidatePush;
  readonly pushLog: PushLog;
  readonly lookups: LogLookups;
  readonly logRejection: LogRejection;
  /** The same for what is shed. */
  readonly logShed: LogRejection;
  readonly settle: SettlePush;
  readonly finalizer: PushFinalizer;
  readonly counts: PushCounts;
  readonly clock: Clock;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly replays: boolean;
  readonly metrics: Metrics;
}

export type AcceptPush = (request: PushRequest) => Promise<AcceptedPush>;

export function createAcceptPush(deps: AcceptDependencies): AcceptPush {
  const fingerprintFor = (entry: LogEntry) =>
    deps.replays ? idempotencyFingerprintOf(entry) : undefined;
  const deadlineOf = ({ receivedAt }: PushRequest) => receivedAt + deps.timeout;
  const left = (request: PushRequest) => deadlineOf(request) - deps.clock();
  /** Requests with an entry in the log, or handed to the rejection log, which counts what it drops. */
  const inLog = new WeakSet<PushRequest>();
  const record = async (request: PushRequest, entry: LogEntry) => {
    await databaseCall(deps.pushLog.append(entry, request.rawBody), left(request));
    inLog.add(request);
  };
  /** Records a push that is to be queued. If the write fails, its entry is finalized in case it exists. */
  const recordQueued = async (request: PushRequest, entry: LogEntry) => {
    const began = performance.now();
    const written = deps.pushLog.append(entry, request.rawBody);
    try {
      await databaseCall(written, left(request));
      inLog.add(request);
      deps.metrics.stage('log', began);
    } catch (error) {
      const settlement = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' } as const;
      const giveUp = () =>
        deps.finalizer.finalize({ id: request.requestId, settlement }, deps.clock());
      // Only after the write is over: an entry that does not exist yet cannot be finalized.
      void written.then(giveUp, giveUp);
      throw error;
    }
  };

  const validate = (request: PushRequest): Promise<ValidPush> => {
    const { caller, operation, signature, idempotencyKey, headerErrors, strictFields } = request;
    const requestContext = {
      clientId: caller.clientId,
      operation,
      signature,
      idempotencyKey,
      headerErrors,
      strictFields,
    };
    return databaseCall(deps.validate(request.rawBody, requestContext), left(request));
  };

  /**
   * Rejects a body that does not pass. A retry still gets the outcome of its first try: what the body
   * names may have passed then (a user who has left since).
   */
  const rejectInvalid = async (request: PushRequest, entry: LogEntry, error: unknown) => {
    if (!(error instanceof PushError) || error.code >= 500) throw error;
    const now = deps.clock();
    const idempotencyFingerprint = fingerprintFor(entry);
    const keys = idempotencyFingerprint === undefined ? [] : [idempotencyFingerprint];
    const found = deps.lookups.priorEntries(keys, now - REPLAY_WINDOW);
    const [first] = (await databaseCall(found, left(request))).values();
    const ended = first
      ? replayedEntry(entry, first, now)
      : rejectedEntry(named(entry, request), error, now);
    await record(request, ended);
    const settlement = settlementOf(ended);
    if (!first || !settlement) throw error;
    const { systemCode } = request.caller;
    const { externalId = '', warnings = [] } = first;
    return answer(settlement, { systemCode, externalId, warnings });
  };

  const makeEntry = ({ caller, ...about }: PushRequest) =>
    newEntry({ ...about, ...caller, timeout: deps.timeout });

  /** Rejects a request before it is admitted. Such requests may come in crowds: only some are recorded. */
  const rejectUnadmitted = (request: PushRequest, error: unknown): never => {
    if (error instanceof PushError) {
      const now = deps.clock();
      const rejected = () => rejectedEntry(named(makeEntry(request), request), error, now);
      const { clientId } = request.caller;
      const dropped = () => deps.counts.unrecorded(endedPush(request, error.reason));
      inLog.add(request);
      if (error.reason === 'BACKLOG_FULL') deps.logShed(clientId, rejected, undefined, dropped);
      else deps.logRejection(clientId, rejected, request.rawBody, dropped);
    }
    throw error;
  };

  const admitted = async (request: PushRequest, permit: Permit): Promise<AcceptedPush> => {
    const { caller } = request;
    const { systemCode } = caller;
    const asked = deps.admit(request, left(request));
    request.admitted(await asked.catch((error) => rejectUnadmitted(request, error)));
    // The body is hashed only once the push is admitted.
    const entry = makeEntry(request);
    const valid = await validate(request).catch((error) => ({ error }));
    if ('error' in valid) return rejectInvalid(request, entry, valid.error);
    request.stages?.mark('admit');
    const { operation, externalId, warnings } = valid;
    const warned = warnings.length > 0 && { warnings };
    await recordQueued(request, { ...entry, externalId, ...warned });
    request.stages?.mark('log');
    const idempotencyFingerprint = fingerprintFor(entry);
    const push = {
      id: request.requestId,
      clientId: caller.clientId,
      systemCode,
      externalId,
      operation,
      bodyHash: entry.bodyHash,
      ...(entry.idempotencyKey && { idempotencyKey: entry.idempotencyKey }),
      ...(idempotencyFingerprint && { idempotencyFingerprint }),
    };
    const settlement = await deps.settle(push, deadlineOf(request));
    request.stages?.mark('wait');
    permit.release(wasSettled(settlement));
    return answer(settlement, { systemCode, externalId, warnings });
  };

  const accept = async (request: PushRequest) => {
    const { clientId, paused } = request.caller;
    if (paused) return rejectUnadmitted(request, clientPaused(paused.reason));
    let permit: Permit;
    try {
      permit = deps.loadShedder.acquire(clientId);
    } catch (error) {
      return rejectUnadmitted(request, error);
    }
    return admitted(request, permit).finally(() => permit.release(false));
  };
  return (request) => {
    const isRecorded = () => inLog.has(request);
    return counted(deps, request, () => accept(request), isRecorded);
  };
}

/**
 * True if a worker processed the push (successfully or not); false if it timed out or a server was
 * unavailable.
 */
function wasSettled(settlement: Settlement | undefined): boolean {
  if (!settlement || settlement.state === 'EXPIRED') return false;
  return settlement.state !== 'REFUSED' || new PushError(settlement.reason).code < 500;
}

/** The entry of a push that is rejected before it was looked into, with the matter that it names. */
function named(entry: LogEntry, { rawBody }: PushRequest): LogEntry {
  const externalId = externalIdIn(rawBody);
  return externalId === undefined ? entry : { ...entry, externalId };
}

/** A settlement as the caller is told. @throws PushError for everything but success */
function answer(
  settlement: Settlement | undefined,
  about: { systemCode: string; externalId: string; warnings: readonly WarningInBoth[] },
): AcceptedPush {
  const { systemCode, externalId } = about;
  if (!settlement || settlement.state === 'EXPIRED') throw new PushError('CONFIRMATION_TIMEOUT');
  if (settlement.state === 'REFUSED') {
    const { reason } = settlement;
    if (reason === 'MATTER_NOT_FOUND' || reason === 'MATTER_DELETED') {
      throw matterNotFound(reason, systemCode, externalId);
    }
    throw new PushError(reason, fieldOf(reason));
  }
  const { matterId, outcome, unseen = false } = settlement;
  const warnings = withUnseen(about.warnings, unseen);
  const data = { matterId, externalId, outcome, ...(warnings.length > 0 && { warnings }) };
  return { data, replayed: settlement.state === 'REPLAYED' };
}

/** Rejections by the ledger's state that are about one field name it. */
function fieldOf(reason: PushError['reason']): { errors?: Problem[] } {
  const fields: Partial<Record<PushError['reason'], string>> = {
    EXTERNAL_ID_RESERVED: 'externalId',
    TOO_MANY_PARTIES: 'parties',
  };
  const field = fields[reason];
  return field ? { errors: [problem(field, new PushError(reason).text)] } : {};
}
