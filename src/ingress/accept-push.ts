/**
 * The synchronous way of an authenticated push: admit, validate, record, queue, wait for the
 * worker's word. Whatever happens, it ends by the caller's deadline, with a settlement or an error.
 */
import { createBatcher } from '../batcher';
import type { Clock } from '../clock';
import type { PushData } from '../contract/envelope';
import type { OperationName } from '../domain/operation';
import { type FieldError, matterNotFound, PushError } from '../errors';
import type { Logger } from '../logger';
import type { LogEntry } from '../push-log/entry-model';
import type { Finalize } from '../push-log/finalize';
import type { PushLog, SettledPush } from '../push-log/log';
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
  /** When the whole request was there, epoch milliseconds: the caller's wait is counted from it. */
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
  readonly finalize: Finalize;
  readonly logRefusal: LogRefusal;
  readonly queue: GroupQueue;
  readonly inbox: ReplyInbox<Settlement>;
  readonly ingressId: string;
  readonly clock: Clock;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly replays: boolean;
  readonly logger: Logger;
}

export type AcceptPush = (request: PushRequest) => Promise<AcceptedPush>;

export function createAcceptPush(deps: AcceptDependencies): AcceptPush {
  const replayKeyFor = (entry: LogEntry) => (deps.replays ? replayKeyOf(entry) : undefined);
  const left = ({ receivedAt }: PushRequest) => receivedAt + deps.timeout - deps.clock();
  // Pushes that got no answer in time come in crowds: one settle and one look for all of a moment.
  const ending = createBatcher<SettledPush, Settlement>({
    run: (pushes) => deps.finalize(pushes, { now: deps.clock(), worker: deps.ingressId }),
    maxBatch: 500,
    maxRunning: 2,
  });

  /** Ends a push without an effect, unless a worker was first; undefined where nobody can tell. */
  const end = (id: string, settlement: Settlement): Promise<Settlement | undefined> =>
    databaseCall(ending.add({ id, settlement }), LAST_WORD).catch(() => undefined);

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
    const replayKey = replayKeyFor(entry);
    const keys = replayKey === undefined ? [] : [replayKey];
    const found = deps.lookups.precedentEntries(keys, now - REPLAY_WINDOW);
    const [first] = (await databaseCall(found, left(request))).values();
    const ended = first ? replayedEntry(entry, first, now) : refusedEntry(entry, error, now);
    await databaseCall(deps.pushLog.append(ended), left(request));
    const settlement = settlementOf(ended);
    if (!first || !settlement) throw error;
    const { systemCode } = request.caller;
    return answer(settlement, { systemCode, externalId: first.externalId ?? '', warnings: [] });
  };

  return async (request) => {
    const { caller, ...about } = request;
    const makeEntry = () => newEntry({ ...about, ...caller, timeout: deps.timeout });
    await admit(request).catch(async (error) => {
      if (error instanceof PushError) {
        const refused = () => refusedEntry(makeEntry(), error, deps.clock());
        if (error.code >= 429) deps.logRefusal(caller.clientId, refused);
        else await databaseCall(deps.pushLog.append(refused()), left(request));
      }
      throw error;
    });
    // The body is hashed only once the push is admitted.
    const entry = makeEntry();
    const valid = await validate(request).catch((error) => ({ error }));
    if ('error' in valid) return refuse(request, entry, valid.error);
    const { operation, externalId, warnings } = valid;
    await databaseCall(deps.pushLog.append({ ...entry, externalId }), left(request));
    const { systemCode } = caller;
    const reply = deps.inbox.wait(request.requestId, Math.max(0, left(request)));
    const replayKey = replayKeyFor(entry);
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
    const refusal = await enqueue(deps, push, left(request));
    if (refusal) {
      // It may be in its lane all the same. Ended here, it can take no effect there; or a worker
      // was first, and then its word counts.
      deps.inbox.deliver(push.id, refusal);
      return answer((await end(push.id, refusal)) ?? refusal, { systemCode, externalId, warnings });
    }
    // At the deadline: from here on the push is not applied any more, or it was.
    const settlement = (await reply) ?? (await end(push.id, { state: 'EXPIRED' }));
    return answer(settlement, { systemCode, externalId, warnings });
  };
}

/** Milliseconds for the log's last word, at most after the caller's deadline. */
const LAST_WORD = 500;

type Push = Parameters<GroupQueue['enqueue']>[0];

/** @returns undefined once the push is queued; why, where it could not be */
async function enqueue(
  deps: AcceptDependencies,
  push: Push,
  timeout: number,
): Promise<Settlement | undefined> {
  try {
    const taken = await queueCall(deps.queue.enqueue(push, timeout), timeout);
    return taken ? undefined : { state: 'REFUSED', reason: 'BACKLOG_FULL' };
  } catch (error) {
    deps.logger.warn({ requestId: push.id, error: String(error) }, 'not queued');
    return { state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' };
  }
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
