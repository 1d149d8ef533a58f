/**
 * One logged push sent again by an operator: validated, recorded with a link to its origin, queued
 * and waited for like any other. Only its signature was checked earlier, when it first came.
 */
import type { Clock } from '../clock';
import type { OperationName } from '../domain/operation';
import { PushError } from '../errors';
import type { LogEntry } from '../push-log/entry-model';
import type { PushLog } from '../push-log/log';
import type { Settlement } from '../push-log/settlement';
import { newEntry, replayKeyOf } from './log-entry';
import type { SettlePush } from './settle-push';
import type { ValidatePush, ValidPush } from './validate-push';

export interface ReplayDependencies {
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

export interface ReplayResult {
  readonly requestId: string;
  /** Undefined where the database could not be asked at that moment. */
  readonly settlement: Settlement | undefined;
}

/** @throws PushError where the body does not pass (any more); it is not recorded then */
export type ReplayPush = (push: LoggedPush) => Promise<ReplayResult>;

export function createReplayPush(deps: ReplayDependencies): ReplayPush {
  return async ({ entry: origin, body }) => {
    const { clientId, systemCode, operation } = origin;
    const valid = await validateAgain(deps.validate, { entry: origin, body });
    const receivedAt = deps.clock();
    const requestId = deps.newRequestId(receivedAt);
    const about = { requestId, clientId, systemCode, operation, receivedAt };
    const entry: LogEntry = {
      ...newEntry({ ...about, rawBody: body, timeout: deps.timeout }),
      externalId: valid.externalId,
      ...(valid.warnings.length > 0 && { warnings: valid.warnings }),
      replayOf: origin._id,
      operator: deps.operator,
    };
    await deps.pushLog.append(entry, body);
    // Tried once more after a lost answer, it must not be applied twice: the run is its identity.
    const replayKey = replayKeyAgain(origin) ?? `${deps.runId}.${origin._id}`;
    const settlement = await deps.settle(
      {
        id: requestId,
        clientId,
        systemCode,
        externalId: valid.externalId,
        operation: valid.operation,
        bodyHash: entry.bodyHash,
        replayKey,
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
  const origin = { clientId, operation, signature, idempotencyKey, headerErrors: [] };
  const valid = await validate(body, origin);
  return { ...valid, externalId: entry.externalId ?? valid.externalId };
}

/**
 * A push that took no effect keeps its identity: it is answered from a retry that did, and a later
 * retry is answered from it. One that took effect is to be applied once more, so it gives it up.
 */
export function replayKeyAgain(origin: LogEntry): string | undefined {
  return hadEffect(origin) ? undefined : replayKeyOf(origin);
}

/** Whether a push was accepted when it came, itself or the one that it repeats. */
export const hadEffect = ({ state }: LogEntry) => state === 'PERSISTED' || state === 'REPLAYED';

/** Whether a settlement may be another one a moment later. */
export function mayPassLater(settlement: Settlement | undefined): boolean {
  if (!settlement || settlement.state === 'EXPIRED') return true;
  return settlement.state === 'REFUSED' && new PushError(settlement.reason).retryable;
}
