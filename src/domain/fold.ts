/**
 * Folds the pushes of one matter: applies the pushes in order, and returns the last state of the matter and a result
 * for each push. One fold of several pushes gives the same matter and results as one fold after another for each push.
 */
import { type Decision, type DecisionContext, decide, type Outcome } from './decide';
import type { Matter } from './matter';
import type { Operation } from './operation';

/** The fields of a push that the fold needs. */
export interface FoldablePush {
  readonly operation: Operation;
  /** Digest of client, operation, idempotency key and body. Pushes with equal digests are duplicates (contract 5.1). */
  readonly idempotencyFingerprint?: string;
}

/** The result of an earlier push with the same idempotency fingerprint. */
export interface PriorResult {
  readonly pushId: string;
  readonly outcome: Outcome;
  readonly matterId: bigint;
}

export interface FoldResult {
  readonly decision: Decision;
  /** The matter before the push; undefined if the matter did not exist. */
  readonly before: Matter | undefined;
  /** Whether the push changed the matter. */
  readonly changed: boolean;
  /** Set if this push repeats an earlier push and was therefore not applied: the result of the earlier push. */
  readonly duplicateOf?: PriorResult;
}

/**
 * @param priorResults results of pushes that were settled before this fold, by idempotency fingerprint
 * @returns the matter after all pushes (the same object if nothing changed) and a result per push
 */
export function fold<P extends FoldablePush & { readonly id: string }>(
  matter: Matter | undefined,
  pushes: readonly P[],
  context: DecisionContext,
  priorResults: ReadonlyMap<string, PriorResult>,
): { matter: Matter | undefined; results: FoldResult[] } {
  const seen = new Map(priorResults);
  let current = matter;
  const results = pushes.map((push): FoldResult => {
    const earlier =
      push.idempotencyFingerprint === undefined ? undefined : seen.get(push.idempotencyFingerprint);
    if (earlier && current) {
      const decision: Decision = { kind: 'accepted', outcome: earlier.outcome, matter: current };
      return { decision, before: current, changed: false, duplicateOf: earlier };
    }
    const before = current;
    const decision = decide(before, push.operation, context);
    const changed = decision.kind === 'accepted' && decision.matter !== before;
    if (decision.kind === 'accepted') {
      current = decision.matter;
      if (push.idempotencyFingerprint !== undefined) {
        const { outcome } = decision;
        seen.set(push.idempotencyFingerprint, {
          pushId: push.id,
          outcome,
          matterId: current.matterId,
        });
      }
    }
    return { decision, before, changed };
  });
  return { matter: current, results };
}
