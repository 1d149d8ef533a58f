/**
 * An operator's resend of one logged push: validated, recorded with a link to the logged push
 * (`resentFrom`), queued and waited for like any other. Its signature was checked when it first came.
 */
import type { Clock } from '../concurrency/clock';
import type { OperationName } from '../domain/operation';
import { PushError } from '../protocol/errors';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { PushLog } from '../storage/push-log/log';
import type { Settlement } from '../storage/push-log/settlement';
import { idempotencyFingerprintOf, newEntry, withValid } from './log-entry';
import type { SettlePush } from './settle-push';
import type { ValidatePush, ValidPush } from './validate-push';

export interface ResendDependencies {
  readonly validate: ValidatePush;
  readonly pushLog: PushLog;
  readonly settle: SettlePush;
  readonly newRequestId: (receivedAt: number) => string;
  readonly clock: Clock;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  /** Names this run: the same push is applied once in it. */
  readonly runId: string;
  /** Who sends it again; stands in the log. */
  readonly operator: string;
}

/** A push of the log with its body. */
export interface LoggedPush {
  readonly entry: LogEntry & { readonly systemCode: string; readonly operation: OperationName };
  readonly body: Uint8Array;
}

export interface ResendResult {
  readonly requestId: string;
  /** Undefined where the database could not be asked at that moment. */
  readonly settlement: Settlement | undefined;
}

/** @throws PushError where the body does not pass (any more); it is not recorded then */
export type ResendPush = (push: LoggedPush) => Promise<ResendResult>;

export function createResendPush(deps: ResendDependencies): ResendPush {
  return async (push) => {
    const { entry: logged, body } = push;
    const { clientId, systemCode, operation } = logged;
    const valid = await validateAgain(deps.validate, push);
    const receivedAt = deps.clock();
    const requestId = deps.newRequestId(receivedAt);
    const about = { requestId, clientId, systemCode, operation, receivedAt };
    const entry: LogEntry = {
      ...withValid(newEntry({ ...about, rawBody: body, timeout: deps.timeout }), valid),
      resentFrom: logged._id,
      operator: deps.operator,
    };
    await deps.pushLog.append(entry, body);
    // Tried once more after a lost answer, it must not be applied twice: the run is its identity.
    const idempotencyFingerprint = resendFingerprint(logged) ?? `${deps.runId}.${logged._id}`;
    const settlement = await deps.settle(
      {
        id: requestId,
        clientId,
        systemCode,
        externalId: valid.externalId,
        operation: valid.operation,
        bodyHash: entry.bodyHash,
        idempotencyFingerprint,
      },
      receivedAt + deps.timeout,
    );
    return { requestId, settlement };
  };
}

/**
 * The operation that a logged push stands for today, about the matter that it was about then.
 *
 * @throws PushError where it does not pass (any more)
 */
export async function validateAgain(
  validate: ValidatePush,
  { entry, body }: LoggedPush,
): Promise<ValidPush> {
  const { clientId, operation, idempotencyKey } = entry;
  // Its signature is not kept. Where it would give a notice its id, the request id does.
  const signature = String(entry._id);
  const requestContext = { clientId, operation, signature, idempotencyKey, headerErrors: [] };
  const valid = await validate(body, requestContext);
  return { ...valid, externalId: entry.externalId ?? valid.externalId };
}

/**
 * A push without an effect is resent with its own fingerprint: it is answered from a retry that took
 * effect, and a later retry is answered from it. A push with an effect is to be applied once more, so it
 * is resent without its fingerprint.
 */
export function resendFingerprint(logged: LogEntry): string | undefined {
  return hadEffect(logged) ? undefined : idempotencyFingerprintOf(logged);
}

/** Whether a push was accepted when it came, itself or the one that it repeats. */
export const hadEffect = ({ state }: LogEntry) => state === 'PERSISTED' || state === 'REPLAYED';

/** Whether a settlement may be another one a moment later. */
export function mayPassLater(settlement: Settlement | undefined): boolean {
  if (!settlement || settlement.state === 'EXPIRED') return true;
  return settlement.state === 'REFUSED' && new PushError(settlement.reason).retryable;
}
