/** Finds the earlier and later lines of the same batch. */
import type { CheckedPush } from './pushes';

export interface BatchLines {
  /** Earlier lines of the same batch. */
  earlier(push: CheckedPush): readonly CheckedPush[];
  later(push: CheckedPush): readonly CheckedPush[];
  /** The lines of each batch, in order. */
  readonly all: readonly (readonly CheckedPush[])[];
}

/** @param pushes usually of one matter, because only lines of the same matter have an order */
export function createBatchLines(pushes: readonly CheckedPush[]): BatchLines {
  const byBatch = new Map<string, CheckedPush[]>();
  for (const push of pushes) {
    if (!push.batch) continue;
    const id = String(push.batch.id);
    const known = byBatch.get(id);
    if (known) known.push(push);
    else byBatch.set(id, [push]);
  }
  const ofSame = ({ batch }: CheckedPush) => (batch ? (byBatch.get(String(batch.id)) ?? []) : []);
  for (const lines of byBatch.values()) lines.sort((a, b) => lineOf(a) - lineOf(b));
  return {
    earlier: (push) => ofSame(push).filter((other) => lineOf(other) < lineOf(push)),
    later: (push) => ofSame(push).filter((other) => lineOf(other) > lineOf(push)),
    all: [...byBatch.values()],
  };
}

/** 1-based; 0 for a single push. */
export const lineOf = ({ batch }: CheckedPush): number => batch?.line ?? 0;
