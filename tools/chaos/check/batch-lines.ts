/** Pushes that came as lines of one batch: those before and after each other. */
import type { Push } from './pushes';

export interface BatchLines {
  /** Of the same batch, lines before this one. */
  earlier(push: Push): readonly Push[];
  later(push: Push): readonly Push[];
  /** In the order of their lines; only batches with one of these pushes. */
  readonly all: readonly (readonly Push[])[];
}

/** @param pushes of one matter, mostly: what a batch is asked for are lines that have an order */
export function createBatchLines(pushes: readonly Push[]): BatchLines {
  const byBatch = new Map<string, Push[]>();
  for (const push of pushes) {
    if (!push.batch) continue;
    const id = String(push.batch.id);
    const known = byBatch.get(id);
    if (known) known.push(push);
    else byBatch.set(id, [push]);
  }
  const ofSame = ({ batch }: Push) => (batch ? (byBatch.get(String(batch.id)) ?? []) : []);
  for (const lines of byBatch.values()) lines.sort((a, b) => lineOf(a) - lineOf(b));
  return {
    earlier: (push) => ofSame(push).filter((other) => lineOf(other) < lineOf(push)),
    later: (push) => ofSame(push).filter((other) => lineOf(other) > lineOf(push)),
    all: [...byBatch.values()],
  };
}

/** 1-based; 0 of a push that came alone. */
export const lineOf = ({ batch }: Push): number => batch?.line ?? 0;
