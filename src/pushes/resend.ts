/** Resends logged pushes for operators (for clients: `resend-request.ts`). */

import { inBatches } from '../concurrency/batcher';
import { PushError } from '../protocol/errors';
import type { LogEntry } from '../storage/push-log';
import {
  type ApplyDependencies,
  applyPushes,
  LineOrder,
  newPush,
  pushResultOf,
  recordPushes,
} from './apply';
import { resendFingerprint } from './idempotency';
import type { PushResult } from './push';
import type { CheckBodies } from './read-batch';
import {
  type PlanDependencies,
  type Planned,
  planResend,
  type Skipped,
  type StoredPush,
} from './resend-plan';
import { checkStored } from './resend-values';

export {
  type Planned,
  SKIPPED,
  type Skipped,
  type SkippedPush,
  type StoredPush,
} from './resend-plan';
export { checkStored } from './resend-values';

export interface OperatorResendDependencies extends ApplyDependencies {
  readonly checkBodies: CheckBodies;
  readonly newRequestId: (receivedAt: number) => string;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  /** Identifies one run of `matterctl log resend`. Each run applies a push at most once. */
  readonly runId: string;
  readonly operator: string;
  /** --again: permits a second resend of a push without an idempotency key. */
  readonly again: boolean;
}

/** @throws PushError if the body is invalid by the current rules, or if the push cannot be recorded */
export type OperatorResend = (push: StoredPush) => Promise<PushResult>;

export function createOperatorResend(deps: OperatorResendDependencies): OperatorResend {
  const { clock, newRequestId, timeout, operator } = deps;
  return async (stored) => {
    const [checked] = await checkStored(deps.checkBodies, [stored]);
    if (!checked || checked instanceof PushError) throw checked ?? new PushError('INTERNAL_ERROR');
    const receivedAt = clock();
    const { clientId, systemCode, operation, idempotencyKey } = stored.entry;
    const source = {
      requestId: newRequestId(receivedAt),
      caller: { clientId, systemCode },
      operation,
      idempotencyKey,
      rawBody: stored.body,
      receivedAt,
      logged: { resentFrom: stored.entry.resentFrom ?? stored.entry._id, operator },
    };
    const fingerprintOf = () => operatorFingerprint(deps, stored.entry);
    const push = newPush(source, { checked, operation, fingerprintOf }, timeout);
    const deadline = push.entry.deadlineAt.getTime();
    await recordPushes(deps, [push], deadline - clock());
    if (push.answer instanceof PushError) throw push.answer;
    await applyPushes(deps, [push], { deadline, order: new LineOrder() });
    return pushResultOf(push);
  };
}

function operatorFingerprint(
  { runId, again }: OperatorResendDependencies,
  logged: LogEntry,
): string {
  const ofRun = `${runId}.${logged._id}`;
  if (again && logged.idempotencyKey === undefined) return ofRun;
  return resendFingerprint(logged) ?? ofRun;
}

export interface SelectDependencies extends PlanDependencies {
  /** --again: does not skip entries that were resent or resolved. */
  readonly again: boolean;
  /** True if the operator named the entries by request id. */
  readonly byId: boolean;
}

const ENTRIES_PER_PLAN = 100;

export async function* selectPushes(
  entries: AsyncIterable<LogEntry>,
  { again, byId, ...deps }: SelectDependencies,
): AsyncGenerator<Planned> {
  const allowed: readonly Skipped[] = [
    // An operator may repeat a push that took effect. A client may not.
    'TOOK_EFFECT',
    ...(again ? (['ALREADY_RESENT', 'RESOLVED_SINCE'] as const) : []),
    ...(byId ? (['A_RESEND', 'ONLY_ANSWERED'] as const) : []),
  ];
  for await (const batch of inBatches(entries, ENTRIES_PER_PLAN)) {
    yield* await planResend(deps, batch, { allowed });
  }
}
