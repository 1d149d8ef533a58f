/**
 * Resends logged pushes for operators. `resend-request.ts` resends pushes for clients. `selectPushes` decides which
 * entries are sent again. `createOperatorResend` returns the function that validates, records and applies a logged push
 * like a new push.
 */

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
  /** The id of this run of the command. One run applies each push at most once. */
  readonly runId: string;
  /** The name of the operator, for the log entry. */
  readonly operator: string;
  /** --again: a push without a key is applied once more, even if an earlier resend of this push took effect. */
  readonly again: boolean;
}

/**
 * Sends a logged push again. `resentFrom` of the new entry is the request id of the original push.
 *
 * @throws PushError if the body is no longer valid, or if the push cannot be recorded
 */
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

/**
 * The fingerprint of a resend by an operator. If an answer is lost, the run sends the push again, and the fingerprint
 * prevents a second effect. An operator can repeat the effect of a push that took effect and, with `again`, of a push
 * without a key. The fingerprint of such a resend contains the id of this run (`ofRun`), so that each run can apply the
 * push once.
 */
function operatorFingerprint(
  { runId, again }: OperatorResendDependencies,
  logged: LogEntry,
): string {
  const ofRun = `${runId}.${logged._id}`;
  if (again && logged.idempotencyKey === undefined) return ofRun;
  return resendFingerprint(logged) ?? ofRun;
}

export interface SelectDependencies extends PlanDependencies {
  /** True: entries that were resent before, or that a later push resolved, are selected too. */
  readonly again: boolean;
  /** True: the operator named the entries by request id, so resends and replayed retries are selected too. */
  readonly byId: boolean;
}

/** Number of entries that are planned together, so that their bodies are read with one command. */
const ENTRIES_PER_PLAN = 100;

/** Yields the plan of each entry, in the order of `entries`. */
export async function* selectPushes(
  entries: AsyncIterable<LogEntry>,
  { again, byId, ...deps }: SelectDependencies,
): AsyncGenerator<Planned> {
  const allowed: readonly Skipped[] = [
    // An operator, unlike a client, has the permission to apply a push once more.
    'TOOK_EFFECT',
    ...(again ? (['ALREADY_RESENT', 'RESOLVED_SINCE'] as const) : []),
    ...(byId ? (['A_RESEND', 'ONLY_ANSWERED'] as const) : []),
  ];
  for await (const batch of inBatches(entries, ENTRIES_PER_PLAN)) {
    yield* await planResend(deps, batch, { allowed });
  }
}
