/** The way of one push in steps: when it was where, and for how long. */
import type { EntryView } from '../../../src/protocol/entry-view';

export interface Step {
  readonly name: string;
  /** Epoch milliseconds, by the clock that said so. */
  readonly at: number;
  /** Milliseconds since the step before, never negative; undefined for the first. */
  readonly took: number | undefined;
  /** By how much the step before is later, where two clocks differ; else 0. */
  readonly skew: number;
}

export interface Timeline {
  readonly steps: readonly Step[];
  /** Milliseconds from receipt to settlement; undefined: not settled. */
  readonly total: number | undefined;
}

export type Times = Pick<
  EntryView,
  'state' | 'receivedAt' | 'queuedAt' | 'startedAt' | 'settledAt'
>;

/**
 * Receipt and settlement are of the clocks of `web` and `worker`, queue and start of that of Redis.
 * A push that was rejected or replayed at once was never queued and has fewer steps.
 */
export function timelineOf({ state, receivedAt, queuedAt, startedAt, settledAt }: Times): Timeline {
  const known: [name: string, at: string | null][] = [
    ['received', receivedAt],
    ['queued', queuedAt],
    ['started', startedAt],
    [state.toLowerCase(), settledAt],
  ];
  const steps: Step[] = [];
  for (const [name, instant] of known) {
    if (instant === null) continue;
    const at = Date.parse(instant);
    const gap = at - (steps.at(-1)?.at ?? at);
    const took = steps.length === 0 ? undefined : Math.max(0, gap);
    steps.push({ name, at, took, skew: Math.max(0, -gap) });
  }
  if (settledAt === null) return { steps, total: undefined };
  return { steps, total: Math.max(0, Date.parse(settledAt) - Date.parse(receivedAt)) };
}
