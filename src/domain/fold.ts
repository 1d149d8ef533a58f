/**
 * Folding: all waiting operations of one group, in their order, become one new matter and one
 * result each. Folding a list at once equals folding it push by push.
 */
import { type Decision, decide, type Outcome, type Surroundings } from './decide';
import type { Matter } from './matter';
import type { Operation } from './operation';

/** One push as the fold needs it. */
export interface FoldablePush {
  readonly operation: Operation;
  /** Identity of client, operation, idempotency key and body; the same again is a replay. */
  readonly replayKey?: string;
}

/** What an earlier push with the same replay key came to. */
export interface Precedent {
  readonly pushId: string;
  readonly outcome: Outcome;
  readonly matterId: bigint;
}

export interface FoldResult {
  readonly decision: Decision;
  /** The matter that the push met. */
  readonly before: Matter | undefined;
  /** Whether the matter is another one after it. */
  readonly changed: boolean;
  /** Set where the push repeats an earlier one and therefore was not applied again. */
  readonly replayOf?: Precedent;
}

/**
 * @param precedents what pushes settled before came to, by replay key
 * @returns the matter after all pushes (the same object if nothing changed) and a result per push
 */
export function fold<P extends FoldablePush & { readonly id: string }>(
  matter: Matter | undefined,
  pushes: readonly P[],
  around: Surroundings,
  precedents: ReadonlyMap<string, Precedent>,
): { matter: Matter | undefined; results: FoldResult[] } {
  const seen = new Map(precedents);
  let current = matter;
  const results = pushes.map((push): FoldResult => {
    const earlier = push.replayKey === undefined ? undefined : seen.get(push.replayKey);
    if (earlier && current) {
      const decision: Decision = { kind: 'accepted', outcome: earlier.outcome, matter: current };
      return { decision, before: current, changed: false, replayOf: earlier };
    }
    const before = current;
    const decision = decide(before, push.operation, around);
    const changed = decision.kind === 'accepted' && decision.matter !== before;
    if (decision.kind === 'accepted') {
      current = decision.matter;
      if (push.replayKey !== undefined) {
        const { outcome } = decision;
        seen.set(push.replayKey, { pushId: push.id, outcome, matterId: current.matterId });
      }
    }
    return { decision, before, changed };
  });
  return { matter: current, results };
}
