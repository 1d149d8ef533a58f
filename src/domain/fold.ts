/** A fold applies the pushes of one matter in order. */
import { type Decision, type DecisionContext, decide, type Outcome } from './decide';
import type { Matter } from './matter';
import type { Operation } from './operation';

export interface FoldablePush {
  readonly operation: Operation;
  /** Digest of client, operation, idempotency key and body (contract 5.1). */
  readonly idempotencyFingerprint?: string;
}

export interface PriorResult {
  readonly pushId: string;
  readonly outcome: Outcome;
  readonly matterId: bigint;
}

export interface FoldResult {
  readonly decision: Decision;
  readonly before: Matter | undefined;
  readonly changed: boolean;
  /** Set only for a duplicate: the result of the earlier push. */
  readonly duplicateOf?: PriorResult;
}

/**
 * @param priorResults keys are idempotency fingerprints
 * @returns `matter`: the matter after all pushes, the same object if nothing changed; `results`: one result for each
 *   push
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
