/**
 * The synchronous way of an authenticated push: admit, validate, record, queue, wait for the
 * worker's word. Whatever happens, it ends by the caller's deadline, with a settlement or an error.
 */
import type { Clock } from '../clock';
import type { PushData } from '../contract/envelope';
import type { OperationName } from '../domain/operation';
import { type FieldError, matterNotFound, PushError } from '../errors';
import type { LogEntry } from '../push-log/entry-model';
import type { PushLog } from '../push-log/log';
import { type LogLookups, REPLAY_WINDOW } from '../push-log/lookups';
import { type Settlement, settlementOf } from '../push-log/settlement';
import type { Admission, AdmissionRequest } from '../queue/admission';
import type { GroupQueue } from '../queue/group-queue';
import type { ReplyInbox } from '../queue/replies';
import type { Caller } from './authenticate';
import { databaseCall, queueCall } from './availability';
import { newEntry, refusedEntry, replayedEntry, replayKeyOf } from './log-entry';
import type { LogRefusal } from './refusal-log';
import type { ValidatePush, ValidPush } from './validate-push';

/** An authenticated request, not yet looked into. */
export interface PushRequest {
  readonly requestId: string;
  readonly caller: Caller;
  readonly operation: OperationName;
  readonly path: string;
  /** Lower-case hex. */
  readonly signature: string;
  /** Epoch seconds. */
  readonly timestamp: number;
  readonly idempotencyKey: string | undefined;
  readonly headerErrors: readonly FieldError[];
  readonly rawBody: Uint8Array;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

export interface AcceptedPush {
  readonly data: PushData;
  /** The outcome of an earlier push was repeated. */
  readonly replayed: boolean;
}

export interface AcceptDependencies {
  readonly admit: (request: AdmissionRequest) => Promise<Admission>;
  readonly validate: ValidatePush;
  readonly pushLog: PushLog;
  readonly lookups: LogLookups;
  readonly logRefusal: LogRefusal;
  readonly queue: GroupQueue;
  readonly inbox: ReplyInbox<Settlement>;
  readonly ingressId: string;
  readonly clock: Clock;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly replays: boolean;
}

export type AcceptPush = (request: PushRequest) => Promise<AcceptedPush>;

export function createAcceptPush(deps: AcceptDependencies): AcceptPush {
  const left = ({ receivedAt }: PushRequest) => receivedAt + deps.timeout - deps.clock();

  const admit = async (request: PushRequest): Promise<void> => {
    const { caller, path, signature, timestamp } = request;
    const asked = deps.admit({ clientId: caller.clientId, path, signature, timestamp });
    const admission = await queueCall(asked, left(request));
    if (admission.kind === 'signature-reused') throw new PushError('SIGNATURE_REUSED');
    if (admission.kind === 'rate-limited') {
      const retryAfter = Math.ceil(admission.retryAfter / 1000);
      throw new PushError('RATE_LIMITED', { retryAfter });
    }
  };

  const validate = (request: PushRequest): Promise<ValidPush> => {
    const { caller, operation, signature, idempotencyKey, headerErrors } = request;
    const origin = {
      clientId: caller.clientId,
      operation,
      signature,
      idempotencyKey,
      headerErrors,
    };
    return databaseCall(deps.validate(request.rawBody, origin), left(request));
  };

  /**
   * The body does not pass. A retry is answered as its first try was all the same: what it names
   * may have passed then (a user who left since).
   */
  const refuse = async (request: PushRequest, entry: LogEntry, error: unknown) => {
    if (!(error instanceof PushError) || error.code >= 500) throw error;
    const now = deps.clock();
    const replayKey = deps.replays ? replayKeyOf(entry) : undefined;
    const found = replayKey
      ? deps.lookups.precedentEntries([replayKey], now - REPLAY_WINDOW)
      : Promise.resolve(new Map<string, LogEntry>());
    const [first] = (await databaseCall(found, left(request))).values();
    const end = first ? replayedEntry(entry, first, now) : refusedEntry(entry, error, now);
    await databaseCall(deps.pushLog.append(end), left(request));
    const settlement = settlementOf(end);
    if (!first || !settlement) throw error;
    const { systemCode } = request.caller;
    return answer(settlement, { systemCode, externalId: first.externalId ?? '', warnings: [] });
  };

  return async (request) => {
    const { caller, ...about } = request;
    const entry = newEntry({ ...about, ...caller, timeout: deps.timeout });
    await admit(request).catch((error) => {
      if (error instanceof PushError) {
        deps.logRefusal(caller.clientId, () => refusedEntry(entry, error, deps.clock()));
      }
      throw error;
    });
    const valid = await validate(request).catch((error) => ({ error }));
    if ('error' in valid) return refuse(request, entry, valid.error);
    const { operation, externalId, warnings } = valid;
    await databaseCall(deps.pushLog.append({ ...entry, externalId }), left(request));
    const { systemCode } = caller;
    const reply = deps.inbox.wait(request.requestId, Math.max(0, left(request)));
    const replayKey = deps.replays ? replayKeyOf(entry) : undefined;
    const push = {
      id: request.requestId,
      systemCode,
      externalId,
      operation,
      replyTo: deps.ingressId,
      bodyHash: entry.bodyHash,
      ...(entry.keyId && { keyId: entry.keyId }),
      ...(replayKey && { replayKey }),
    };
    const settlement =
      (await enqueue(deps, push, left(request))) ??
      (await reply) ??
      (await lastLook(deps, push.id));
    return answer(settlement, { systemCode, externalId, warnings });
  };
}

/** Milliseconds for a last word from the log, at most after the caller's deadline. */
const LAST_LOOK = 500;

type Push = Parameters<GroupQueue['enqueue']>[0];

/** @returns undefined once the push is queued; a settlement where it could not be */
async function enqueue(
  deps: AcceptDependencies,
  push: Push,
  timeout: number,
): Promise<Settlement | undefined> {
  const reason = await queueCall(deps.queue.enqueue(push, timeout), timeout)
    .then((taken) => (taken ? undefined : ('BACKLOG_FULL' as const)))
    .catch(() => 'QUEUE_UNAVAILABLE' as const);
  if (reason === undefined) return undefined;
  // It may be in its lane all the same. Settled here, it can take no effect there; or a worker was
  // first, and then its word counts.
  const settlement: Settlement = { state: 'REFUSED', reason };
  deps.inbox.deliver(push.id, settlement);
  const by = { now: deps.clock(), worker: deps.ingressId };
  const settling = deps.pushLog.settle([{ id: push.id, settlement }], by);
  // Where the log cannot be reached either, the entry is ended as expired later.
  const settled = await databaseCall(settling, LAST_LOOK).catch(() => 1);
  return settled === 1 ? settlement : lastLook(deps, push.id);
}

/** The reply did not come in time: the log may know, where a reply was lost. */
async function lastLook(deps: AcceptDependencies, id: string): Promise<Settlement | undefined> {
  const found = await databaseCall(deps.lookups.settlements([id]), LAST_LOOK).catch(
    () => undefined,
  );
  return found?.get(id);
}

/** A settlement as the caller is told. @throws PushError for everything but success */
function answer(
  settlement: Settlement | undefined,
  about: { systemCode: string; externalId: string; warnings: readonly FieldError[] },
): AcceptedPush {
  const { systemCode, externalId, warnings } = about;
  if (!settlement || settlement.state === 'EXPIRED') throw new PushError('CONFIRMATION_TIMEOUT');
  if (settlement.state === 'REFUSED') {
    const { reason } = settlement;
    if (reason === 'MATTER_NOT_FOUND' || reason === 'MATTER_DELETED') {
      throw matterNotFound(reason, systemCode, externalId);
    }
    throw new PushError(reason, fieldOf(reason));
  }
  const { matterId, outcome } = settlement;
  const data = { matterId, externalId, outcome, ...(warnings.length > 0 && { warnings }) };
  return { data, replayed: settlement.state === 'REPLAYED' };
}

/** Refusals by the ledger's state that are about one field name it. */
function fieldOf(reason: PushError['reason']): { errors?: FieldError[] } {
  const fields: Partial<Record<PushError['reason'], string>> = {
    EXTERNAL_ID_RESERVED: 'externalId',
    TOO_MANY_PARTIES: 'parties',
  };
  const field = fields[reason];
  return field ? { errors: [{ field, message: new PushError(reason).message }] } : {};
}
