/**
 * Applies the pushes of one matter in their order. The result is one new matter, and one result for each push. A list
 * that is applied at once has the same result as its pushes one by one.
 */
import { type Decision, type DecisionContext, decide, type Outcome } from './decide';
import type { Matter } from './matter';
import type { Operation } from './operation';

/** The fields of a push that the fold needs. */
export interface FoldablePush {
  readonly operation: Operation;
  /** Digest of client, operation, idempotency key and body. Equal digests are duplicates (contract 5.1). */
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
  /** The matter before the push. */
  readonly before: Matter | undefined;
  /** Whether the push changed the matter. */
  readonly changed: boolean;
  /** Set if the push repeats an earlier push; it was not applied again. */
  readonly duplicateOf?: PriorResult;
}

/**
 * @param priorResults results of pushes that were settled before, by idempotency fingerprint
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
