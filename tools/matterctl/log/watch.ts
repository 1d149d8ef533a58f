/**
 * What of the log was told already. An entry is seen again and again while it is young: it is told
 * once it is settled; and before that too, where it stays queued for long.
 */
import type { LogState } from '../../../src/storage/push-log/entry-model';

export interface Watch {
  /** Whether an entry that was read has to be told now. */
  isDue(id: string, state: LogState, now: number): boolean;
  /** It was told. */
  told(id: string, state: LogState, now: number): void;
  /** Forgets the settled ones below an id: they are not read any more. */
  forget(below: string): void;
  /** Those below an id that were queued when they were seen last. */
  unsettled(below: string): readonly string[];
  /** It is gone, or no longer what is asked for. */
  drop(id: string): void;
}

/** How long a push may be queued before that is told, in milliseconds. */
const TELL_AFTER = 3_000;
/** Unsettled entries out of the window that are still looked after. */
const MAX_UNSETTLED = 100;

export function createWatch(): Watch {
  const settled = new Set<string>();
  const queued = new Map<string, { readonly since: number; readonly isTold: boolean }>();
  return {
    isDue: (id, state, now) => {
      if (state !== 'QUEUED') return !settled.has(id);
      // By our own clock since we saw it: that of the service may be another.
      const seen = queued.get(id);
      if (!seen) queued.set(id, { since: now, isTold: false });
      return seen !== undefined && !seen.isTold && now - seen.since >= TELL_AFTER;
    },
    told: (id, state, now) => {
      if (state === 'QUEUED') {
        queued.set(id, { since: queued.get(id)?.since ?? now, isTold: true });
      } else {
        queued.delete(id);
        settled.add(id);
      }
    },
    forget: (below) => {
      for (const id of settled) if (id < below) settled.delete(id);
      const old = [...queued.keys()].filter((id) => id < below).sort();
      for (const id of old.slice(0, -MAX_UNSETTLED)) queued.delete(id);
    },
    unsettled: (below) => [...queued.keys()].filter((id) => id < below).sort(),
    drop: (id) => void queued.delete(id),
  };
}
