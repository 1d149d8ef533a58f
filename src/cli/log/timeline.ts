/** The way of one push in steps: when it was where, and for how long. */
import type { LogEntry } from '../../push-log/entry-model';

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

export type Times = Pick<LogEntry, 'state' | 'receivedAt' | 'queuedAt' | 'startedAt' | 'settledAt'>;

/**
 * Receipt and settlement are of the clocks of `web` and `worker`, queue and start of that of Redis.
 * A push that was refused or replayed at once was never queued and has fewer steps.
 */
export function timelineOf({ state, receivedAt, queuedAt, startedAt, settledAt }: Times): Timeline {
  const known: [name: string, at: Date | undefined][] = [
    ['received', receivedAt],
    ['queued', queuedAt],
    ['started', startedAt],
    [state.toLowerCase(), settledAt],
  ];
  const steps: Step[] = [];
  for (const [name, date] of known) {
    if (!date) continue;
    const at = date.getTime();
    const gap = at - (steps.at(-1)?.at ?? at);
    const took = steps.length === 0 ? undefined : Math.max(0, gap);
    steps.push({ name, at, took, skew: Math.max(0, -gap) });
  }
  const total = settledAt && Math.max(0, settledAt.getTime() - receivedAt.getTime());
  return { steps, total };
}
